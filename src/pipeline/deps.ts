// What the phases work with besides the request: ports and this process's own short memory.
import type { UnsharedCause } from '../core/decision/explain-decision.ts';
import type { Collapser } from './fetch/collapse.ts';
import type { RunningFills } from './fetch/running-fills.ts';
import type { OriginFetcher } from './origin-ports.ts';
import type { CacheKey, Clock, Hasher, LearnedRules, Leases, PageSource } from './ports.ts';
import type { PurgeJournal } from './purge/purge-journal.ts';
import type { RecentMemory } from './recent-memory.ts';
import type { RefreshQueue } from './refresh-ports.ts';
import type { CollectBody } from './shared-cache/collect-body.ts';
import type { ExchangeEnd } from './shared-cache/exchange-end.ts';
import type { Invalidations } from './shared-cache/invalidations.ts';
import type { RunningSaves } from './shared-cache/running-saves.ts';
import type { FailedFill, Fill, Keyed, NonPageReason } from './state.ts';
import type { PageStore } from './store/page-store.ts';
import type { StoreTurns } from './store/store-turns.ts';

/** A page that failed lately: not fetched again before the back-off ends. */
export interface RecentFailure {
  readonly fill: FailedFill;
  readonly count: number;
}

export interface PipelineDeps {
  readonly clock: Clock;
  /** 0 to 1: spreads expiry. */
  readonly random: () => number;
  readonly pages: PageStore;
  readonly journal: PurgeJournal;
  readonly source: PageSource;
  readonly flights: Collapser<Fill>;
  readonly leases: Leases;
  /** One writer of a page at a time. */
  readonly storing: StoreTurns;
  readonly learned: LearnedRules;
  readonly fills: RunningFills;
  readonly failures: RecentMemory<RecentFailure>;
  /** What turned out to be no page of its own, and why: passed on without asking again. */
  readonly knownNonPages: RecentMemory<NonPageReason>;
  /** What could not be shared lately, and why: nobody waits for another client's copy of it. */
  readonly knownUnshared: RecentMemory<UnsharedCause>;
  readonly origin: OriginFetcher;
  /** Requests passed on whose answers may be shared. */
  readonly exchanges: Collapser<ExchangeEnd>;
  readonly saves: RunningSaves;
  readonly invalidations: Invalidations;
  readonly collectBody: CollectBody;
  readonly hasher: Hasher;
  /** Pages whose refresh a crawler's hit has asked for lately. */
  readonly askedRefreshes: RecentMemory<true>;
  /** Puts a page into the refresh queue; never waits long. */
  readonly queueRefresh: RefreshQueue['add'];
  /** Told what can only be a defect, where no request is left to fail with it. */
  readonly onDefect: (error: unknown) => void;
}

/** Names one page of one dimension, safe against hash collisions. */
export function pageIdentity(keyed: Keyed): string {
  return formatIdentity(keyed.key, keyed.decision.normalized);
}

/** @param url normalized */
export function formatIdentity(key: CacheKey, url: string): string {
  return `${key} ${url}`;
}
