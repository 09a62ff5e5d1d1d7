// Collapse of what is passed on, over processes and machines. The leader of this process enters the
// exchange's lease: it asks the origin, or it waits for the one who does, and takes the answer from
// the store. The word for the others is given as soon as the truth is known, and nobody waits for
// its being given. When the one who asks dies, the next to enter asks.
import { isFetchFailure } from '../../core/http/proxy-status.ts';
import { hasCredentials } from '../../core/http/shared-cache/judge-request.ts';
import { varyNames } from '../../core/http/shared-cache/vary.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import { backOff, rememberUnshared } from '../fetch/failure-memory.ts';
import type { FetchFailure, Lease, LeaseResult } from '../ports.ts';
import type { Keyed } from '../state.ts';
import { within } from '../within.ts';
import type { Arrival, Errand, OpenExchange } from './errand.ts';
import { type ExchangeEnd, type SharedEnd, unshared } from './exchange-end.ts';
import { type FoundExchange, findExchange, type NoExchange } from './find-exchange.ts';
import { openExchange } from './open-exchange.ts';

export interface Shared {
  /** The head, where this process has asked; null: another one has, see `end`. */
  readonly arrival: Arrival | null;
  readonly end: OpenExchange['end'];
  readonly kept: OpenExchange['kept'];
}

/** How long a follower waits for the rest of a body whose head came in time. */
const SLOW_BODY_MS = 5_000;
/** How often a follower takes part again after the one who asked was lost. */
const TURNS_MAX = 4;

const LOST: LeaseResult = { outcome: 'lost', reason: null };
/** What a process of another version calls otherwise. */
const UNNAMED: FetchFailure = 'destination_unavailable';
const LATE: ExchangeEnd = { kind: 'late' };
const AGAIN: ExchangeEnd = { kind: 'again' };

/** How long somebody waits for another one's whole answer. */
export function waitBoundMs({ decision: { policy } }: Keyed): number {
  return policy.bypass.timeoutMs + SLOW_BODY_MS;
}

/**
 * One request to the origin for everybody who shares the store.
 *
 * @param name of the exchange and its variant, the same in all processes
 */
export async function shareExchange(
  errand: Errand,
  name: string,
  deps: PipelineDeps,
): Promise<Shared> {
  const { keyed, mayStore } = errand;
  const lease = `exchange:${keyed.key}:${deps.hasher.text(name)}`;
  const giveUpAt = deps.clock.now() + waitBoundMs(keyed);
  // What can't be stored now, the others could not have.
  for (let turns = 0; mayStore && turns < TURNS_MAX; turns += 1) {
    const turn = await deps.leases.enter(lease);
    if (turn.role === 'unavailable') break;
    if (turn.role === 'leader') return await lead(errand, turn.lease, deps);
    const result = await within(giveUpAt - deps.clock.now(), turn.result);
    const end = result === null ? LATE : await takeResult(errand, result, deps);
    if (end !== null) return elsewhere(end);
  }
  return await askOrigin(errand, deps);
}

/** One request to the origin, and what it says about the next. */
export async function askOrigin(errand: Errand, deps: PipelineDeps): Promise<OpenExchange> {
  const opened = await openExchange(errand, deps);
  remember(errand.keyed, opened.arrival, deps);
  return opened;
}

async function lead(errand: Errand, lease: Lease, deps: PipelineDeps): Promise<Shared> {
  // Whoever comes after a purge must not wait for what is older.
  const running = deps.fills.start(pageIdentity(errand.keyed), () => void lease.release(LOST));
  let word: Promise<LeaseResult> = Promise.resolve(LOST);
  try {
    // Somebody may have been faster between our look-up and our entering.
    const stored = await findNewer(errand, deps);
    const shared = stored === null ? await askOrigin(errand, deps) : elsewhere(stored);
    word = tellOthers(shared).then(describeEnd, () => LOST);
    return shared;
  } finally {
    // Nobody's answer waits for it.
    word.then(lease.release).catch(deps.onDefect).finally(running.end);
  }
}

/** They have nothing of what may be shared before it is stored. */
async function tellOthers({ end, kept }: Shared): Promise<ExchangeEnd> {
  const known = await end;
  return known.kind === 'shared' ? await kept : known;
}

function describeEnd(end: ExchangeEnd): LeaseResult {
  switch (end.kind) {
    case 'failed':
      return { outcome: 'failed', reason: end.reason };
    case 'unshared':
      return { outcome: 'unshared', reason: null };
    case 'shared':
      return end.isStored ? { outcome: 'stored', reason: null } : LOST;
    case 'again':
    case 'late':
      return LOST;
  }
}

/** What the leader's word means here; null: enter again. */
async function takeResult(
  errand: Errand,
  { outcome, reason }: LeaseResult,
  deps: PipelineDeps,
): Promise<ExchangeEnd | null> {
  switch (outcome) {
    case 'stored':
      return (await findNewer(errand, deps)) ?? AGAIN;
    case 'unshared':
      rememberUnshared(errand.keyed, null, deps);
      return unshared();
    case 'failed':
      return failElsewhere(errand.keyed, isFetchFailure(reason) ? reason : UNNAMED, deps);
    case 'lost':
      return null;
  }
}

function failElsewhere(keyed: Keyed, reason: FetchFailure, deps: PipelineDeps): ExchangeEnd {
  const cause = { reason, detail: 'in another process' } as const;
  backOff(keyed, { outcome: 'failed', ...cause }, deps);
  return { kind: 'failed', ...cause, originUrl: null };
}

async function findNewer(
  { keyed, previous }: Errand,
  deps: PipelineDeps,
): Promise<SharedEnd | null> {
  const found = await findExchange(keyed, deps, deps.pages.lookUpStored);
  return await readNewer(found, previous, deps);
}

/**
 * A fresh answer that has been found, as if it had been fetched here.
 *
 * @param previous found before; null: nothing was. The same again is nothing new
 */
export async function readNewer(
  found: FoundExchange | NoExchange,
  previous: FoundExchange | null,
  deps: PipelineDeps,
): Promise<SharedEnd | null> {
  if (found.state !== 'found' || found.freshness !== 'fresh') return null;
  const { entry } = found;
  if (entry.cachedAt === previous?.entry.cachedAt) return null;
  const body = await deps.pages.readBody(entry, 'identity');
  if (body.state !== 'found') return null;
  const { status, exchange, cachedAt, staleAt, deleteAt, since = 0 } = entry;
  const { headers, initialAgeMs, selecting } = exchange;
  const vary = varyNames(headers) ?? [];
  const kept = { headers, initialAgeMs, vary, cachedAt, staleAt, deleteAt };
  return {
    kind: 'shared',
    shared: { status, kept, selecting, body: body.value, since },
    isStored: true,
  };
}

function elsewhere(end: ExchangeEnd): Shared {
  return { arrival: null, end: Promise.resolve(end), kept: Promise.resolve(end) };
}

function remember(keyed: Keyed, arrival: Arrival, deps: PipelineDeps): void {
  if (arrival.kind === 'failed') {
    backOff(keyed, { outcome: 'failed', reason: arrival.reason, detail: arrival.detail }, deps);
    return;
  }
  const identity = pageIdentity(keyed);
  deps.failures.forget(identity);
  // Noted with its length, see carry-answer.ts.
  if (arrival.kind === 'answer' && arrival.unshared === 'too_large') return;
  const isForOne =
    arrival.kind === 'answer' ? arrival.isForOne : arrival.entry.staleAt <= arrival.entry.cachedAt;
  if (!isForOne) deps.knownUnshared.forget(identity);
  // Who has credentials learns nothing about what the others get.
  else if (!hasCredentials(keyed.request.headers)) rememberUnshared(keyed, null, deps);
}
