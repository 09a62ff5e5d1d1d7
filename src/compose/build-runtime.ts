// One configuration as it serves: everything a request reads, built aside and swapped in one
// assignment. What outlives a reload (stores, connections, flights) is made once and passed in.
import { createOriginBalancer, type OriginBalancer } from '../adapters/origin/balance-origins.ts';
import { createOriginSource } from '../adapters/origin/fill/create-origin-source.ts';
import { createOriginFetcher } from '../adapters/origin/pass/create-origin-fetcher.ts';
import {
  createOffSource,
  createServiceSource,
} from '../adapters/render-service/create-service-source.ts';
import type { Config, Settings } from '../config/settings.ts';
import type { UnsharedCause } from '../core/decision/explain-decision.ts';
import type { PipelineDeps, RecentFailure } from '../pipeline/deps.ts';
import { createCollapser } from '../pipeline/fetch/collapse.ts';
import { createRunningFills } from '../pipeline/fetch/running-fills.ts';
import type { BotJudge } from '../pipeline/judge-bot.ts';
import type { Clock, Hasher, LearnedRules, Leases, PageSource } from '../pipeline/ports.ts';
import { forgetPurged } from '../pipeline/purge/forget-purged.ts';
import type { PurgeJournal } from '../pipeline/purge/purge-journal.ts';
import { createRecentMemory } from '../pipeline/recent-memory.ts';
import { createBodyCollector } from '../pipeline/shared-cache/collect-body.ts';
import type { ExchangeEnd } from '../pipeline/shared-cache/exchange-end.ts';
import {
  createInvalidations,
  type InvalidationDeps,
} from '../pipeline/shared-cache/invalidations.ts';
import { createRunningSaves } from '../pipeline/shared-cache/running-saves.ts';
import type { Fill, NonPageReason } from '../pipeline/state.ts';
import type { PageStore } from '../pipeline/store/page-store.ts';
import { createStoreTurns } from '../pipeline/store/store-turns.ts';
import type { Snapshot } from '../server/gateway/gateway-deps.ts';
import { compileTrustedPeers } from '../server/gateway/trusted-peers.ts';
import { buildDecider } from './build-decider.ts';
import type { OwnRenderer } from './own-renderer.ts';

export interface Runtime {
  readonly config: Config;
  readonly snapshot: Snapshot;
  readonly source: PageSource;
}

/** What is kept over reloads. */
export interface Lasting {
  readonly pipeline: Omit<PipelineDeps, 'source'>;
  /** Our name in `Via`: unique, since loops are found by it. */
  readonly pseudonym: string;
  readonly renderer: OwnRenderer;
  /** Shared by passing on and by fills: a failing origin is left out by both. */
  readonly balancer: OriginBalancer;
  readonly judgeBot: BotJudge['judge'];
  /** Resolves when every running fetch has ended, and what came of them is stored. */
  readonly drain: () => Promise<void>;
  /** Sees every page that a source gives, for the metrics. */
  readonly watchSource: (source: PageSource) => PageSource;
}

const MEMORY_ENTRIES_MAX = 10_000;
/** Of answers that are being read for the store, all together. */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024;

export interface LastingParts {
  readonly pseudonym: string;
  readonly renderer: OwnRenderer;
  readonly pages: PageStore;
  readonly journal: PurgeJournal;
  readonly learned: LearnedRules;
  readonly leases: Leases;
  readonly queueRefresh: PipelineDeps['queueRefresh'];
  readonly judgeBot: Lasting['judgeBot'];
  readonly watchSource: Lasting['watchSource'];
  readonly clock: Clock;
  readonly hasher: Hasher;
  readonly onInvalidationLost: InvalidationDeps['onLost'];
  readonly onDefect: PipelineDeps['onDefect'];
}

export function createLasting(parts: LastingParts): Lasting {
  const { pseudonym, renderer, pages, journal, judgeBot, watchSource, clock, onDefect } = parts;
  const balancer = createOriginBalancer(clock);
  const flights = createCollapser<Fill>();
  const saves = createRunningSaves();
  const storing = createStoreTurns({ leases: parts.leases, clock });
  const invalidations = createInvalidations({
    journal,
    pages,
    storing,
    clock,
    onLost: parts.onInvalidationLost,
    onDefect,
  });
  const pipeline: Lasting['pipeline'] = {
    clock,
    random: Math.random,
    pages,
    journal,
    learned: parts.learned,
    flights,
    leases: parts.leases,
    storing,
    fills: createRunningFills(journal.end),
    failures: createRecentMemory<RecentFailure>(clock, MEMORY_ENTRIES_MAX),
    knownNonPages: createRecentMemory<NonPageReason>(clock, MEMORY_ENTRIES_MAX),
    knownUnshared: createRecentMemory<UnsharedCause>(clock, MEMORY_ENTRIES_MAX),
    askedRefreshes: createRecentMemory<true>(clock, MEMORY_ENTRIES_MAX),
    queueRefresh: parts.queueRefresh,
    origin: createOriginFetcher({ balancer, pseudonym }),
    exchanges: createCollapser<ExchangeEnd>(),
    saves,
    invalidations,
    collectBody: createBodyCollector(COLLECTED_BYTES_MAX),
    hasher: parts.hasher,
    onDefect,
  };
  journal.onPurges((records) => forgetPurged(records, pipeline));
  return {
    pseudonym,
    renderer,
    balancer,
    judgeBot,
    watchSource,
    drain: async () =>
      void (await Promise.all([flights.drain(), saves.drain(), invalidations.drain()])),
    pipeline,
  };
}

/** @param previous the runtime in service: its page source is kept when nothing about it changed */
export async function buildRuntime(
  config: Config,
  lasting: Lasting,
  previous: Runtime | null,
): Promise<Runtime> {
  const { settings } = config;
  const keepsSource =
    previous !== null && sourceIdentity(previous.config.settings) === sourceIdentity(settings);
  const source = keepsSource
    ? previous.source
    : lasting.watchSource(await createSource(settings, lasting));
  return {
    config,
    source,
    snapshot: {
      site: {
        decider: await buildDecider(config.policies, lasting.pipeline.learned),
        judgeBot: lasting.judgeBot,
        showsDiagnostics: settings.diagnostics === 'headers',
        waitersPerKeyMax: settings.server.limits.waitersPerKeyMax,
        pageBytesMax: settings.server.limits.pageBytesMax,
      },
      pipeline: { ...lasting.pipeline, source },
      isTrustedPeer: compileTrustedPeers(settings.server.trustedProxies),
      timeoutMs: settings.server.timeoutMs,
    },
  };
}

/** Everything a page source is built from. */
function sourceIdentity({ render, server }: Settings): string {
  return JSON.stringify([render, server.limits.pageBytesMax]);
}

async function createSource(
  settings: Settings,
  { balancer, pseudonym, renderer, pipeline: { clock } }: Lasting,
): Promise<PageSource> {
  const { pageBytesMax } = settings.server.limits;
  const { engine, service, chromium } = settings.render;
  switch (engine) {
    case 'origin':
      return createOriginSource({ balancer, pseudonym, pageBytesMax });
    case 'service':
      if (service === null) throw new Error('render.engine: service without render.service');
      return createServiceSource({ clock, ...service, pageBytesMax });
    case 'chromium': {
      const urls = [await renderer.start()];
      const waitersMax = chromium.tabs + chromium.queueMax;
      const own = { untilReady: renderer.untilReady, waitersMax };
      // Nobody else can reach its socket: a token would only be one more thing to be out of step.
      const contract = { token: null, protocol: 'edge-gateway' } as const;
      const source = createServiceSource({ clock, urls, ...contract, pageBytesMax, own });
      return { ...source, name: 'chromium' };
    }
    case 'off':
      return createOffSource();
  }
}
