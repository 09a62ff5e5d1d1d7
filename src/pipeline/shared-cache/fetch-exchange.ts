// Fetch, for what is not stored or stale: everybody who could do with the same answer waits for one
// request to the origin, see share-exchange.ts. What turned out to be for one client alone is asked
// for by each at once, now and for a while.
import type { ForwardReason } from '../../core/http/cache-status.ts';
import { servesOnError } from '../../core/http/shared-cache/judge-answer.ts';
import { hasCredentials } from '../../core/http/shared-cache/judge-request.ts';
import { judgeStored } from '../../core/http/shared-cache/judge-stored.ts';
import { isSameSelection } from '../../core/http/shared-cache/vary.ts';
import { answerFailure, answerOverload } from '../deliver-status.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { Peer } from '../origin-ports.ts';
import type { HeaderList } from '../ports.ts';
import type { Delivery, Keyed } from '../state.ts';
import { within } from '../within.ts';
import { chooseVariant } from './choose-variant.ts';
import { discardBody, serveExchange, streamExchange } from './deliver-exchange.ts';
import type { Arrival, Errand } from './errand.ts';
import type { ExchangeEnd, FailedExchange, SharedEnd, SharedExchange } from './exchange-end.ts';
import { type FoundExchange, findExchange, type NoExchange } from './find-exchange.ts';
import { serveStored } from './serve-stored.ts';
import { askOrigin, readNewer, type Shared, shareExchange, waitBoundMs } from './share-exchange.ts';

/** A variant is known only after the first answer: whoever waited for another one joins again. */
const TURNS_MAX = 3;

/** What is stored for the request, and why that does not answer it. */
export interface Want {
  readonly keyed: Keyed;
  readonly peer: Peer;
  readonly found: FoundExchange | NoExchange;
  readonly forward: ForwardReason;
  /** What the answers vary by, as one has just said that may not be found yet. */
  readonly names?: readonly string[] | undefined;
}

export async function fetchExchange(want: Want, deps: PipelineDeps): Promise<Delivery> {
  let current = want;
  for (let turn = 1; turn < TURNS_MAX; turn += 1) {
    if (mustBeAlone(current, deps)) break;
    const part = await takePart(current, deps);
    if (part === 'alone') break;
    if (!isAgain(part)) return part;
    const found = await findExchange(want.keyed, deps, deps.pages.lookUpStored);
    const stored = await readNewer(found, previousIn(current), deps);
    if (stored !== null && isFor(want.keyed, stored.shared, deps.clock.now())) {
      return deliverShared(current, stored, deps);
    }
    const forward = found.state === 'found' ? 'stale' : found.forward;
    current = { ...want, found, forward, names: part.names ?? undefined };
  }
  return await passAlone(current, deps);
}

async function passAlone(want: Want, deps: PipelineDeps): Promise<Delivery> {
  const { arrival } = await askOrigin(errandOf(want), deps);
  return await deliverArrival(want, arrival, deps);
}

function mustBeAlone({ keyed }: Want, deps: PipelineDeps): boolean {
  const isUnshared = deps.knownUnshared.get(pageIdentity(keyed)) !== null;
  return isUnshared || hasCredentials(keyed.request.headers);
}

/** Renews a stale answer behind the client's back, unless that is done or has just failed. */
export function refreshExchange(want: Want, deps: PipelineDeps): void {
  const { keyed } = want;
  const id = flightId(want);
  if (deps.exchanges.isRunning(id) || deps.failures.get(pageIdentity(keyed)) !== null) return;
  const place = deps.exchanges.join(id, 0, async () => {
    const { arrival, end } = await shareExchange(errandOf(want), id, deps);
    // Nobody reads it.
    if (arrival?.kind === 'answer') discardBody(arrival.answer.body);
    return await end;
  });
  if (place.role !== 'refused') place.result.catch(deps.onDefect);
}

/**
 * For who must not lead, because a HEAD or a part makes no whole answer: takes what is on its way
 * already. null: nothing is, or it is not for this request.
 */
export async function followExchange(want: Want, deps: PipelineDeps): Promise<Delivery | null> {
  if (!deps.exchanges.isRunning(flightId(want)) || mustBeAlone(want, deps)) return null;
  const part = await takePart(want, deps);
  return part === 'alone' || isAgain(part) ? null : part;
}

/** The others' answer is not for this request: on its own, or once more together with others. */
type NoPart = 'alone' | Again;

interface Again {
  readonly again: true;
  /** What that answer varies by; null: it was not seen here. */
  readonly names: readonly string[] | null;
}

const AGAIN: Again = { again: true, names: null };

/** Leads or follows. */
async function takePart(want: Want, deps: PipelineDeps): Promise<Delivery | NoPart> {
  const { keyed } = want;
  const id = flightId(want);
  const mine: { sharing: Promise<Shared> | null } = { sharing: null };
  const place = deps.exchanges.join(id, keyed.site.waitersPerKeyMax, async (stay) => {
    mine.sharing = shareExchange(errandOf(want), id, deps);
    const { end, kept } = await mine.sharing;
    const known = await end;
    // Until it is found in the store.
    if (known.kind === 'shared' && !known.isStored) stay(kept);
    return known;
  });
  if (place.role === 'refused') return answerOverload(keyed);
  if (mine.sharing !== null) {
    place.result.catch(deps.onDefect);
    const { arrival } = await mine.sharing;
    if (arrival !== null) return await deliverArrival(want, arrival, deps);
  }
  return await takeEnd(want, await within(waitBoundMs(keyed), place.result), deps);
}

/** @param end null: not in time */
async function takeEnd(
  want: Want,
  end: ExchangeEnd | null,
  deps: PipelineDeps,
): Promise<Delivery | NoPart> {
  switch (end?.kind) {
    case 'shared':
      return isFor(want.keyed, end.shared, deps.clock.now())
        ? deliverShared(want, end, deps)
        : { again: true, names: end.shared.kept.vary };
    case 'failed':
      return await recover(want, { ...end, isCollapsed: true }, deps);
    case 'unshared':
      // What is stored has been taken out: the origin must not be asked about it.
      if (want.found.state === 'found') return AGAIN;
      await end.takeTurn();
      return 'alone';
    case 'again':
      return AGAIN;
    default:
      // It drips: whoever waits for all of it is better off with the origin's pace.
      return 'alone';
  }
}

/** Whether an answer to somebody else is one to this request. */
function isFor(keyed: Keyed, shared: SharedExchange, now: number): boolean {
  const { kept } = shared;
  const { headers } = keyed.request;
  const asked = headers.filter(([name]) => !/^(cache-control|pragma)$/i.test(name));
  const isChosen = isSameSelection(shared.selecting, chooseVariant(kept.vary, keyed));
  return isChosen && now < kept.staleAt && judgeStored(kept, asked, 'fresh', now) === 'fresh';
}

function deliverShared(
  want: Want,
  { shared: { status, kept, body }, isStored }: SharedEnd,
  deps: PipelineDeps,
): Delivery {
  const served = { ...kept, status, bytes: body.length };
  const as = {
    cache: 'miss',
    forward: want.forward,
    isStored,
    isCollapsed: true,
    detail: null,
  } as const;
  return serveExchange(want.keyed, served, body, { as, now: deps.clock.now() });
}

async function deliverArrival(want: Want, arrival: Arrival, deps: PipelineDeps): Promise<Delivery> {
  const { keyed, forward, found } = want;
  switch (arrival.kind) {
    case 'failed':
      return await recover(want, arrival, deps);
    case 'renewed': {
      const { entry, body, isStored, originUrl } = arrival;
      const { exchange, status, cachedAt, staleAt } = entry;
      const served = { ...exchange, status, cachedAt, staleAt, bytes: body.length };
      const as = {
        cache: isStored ? 'miss' : 'bypass',
        forward,
        forwardStatus: 304,
        isStored,
        originUrl,
        detail: null,
      } as const;
      return serveExchange(keyed, served, body, { as, now: deps.clock.now() });
    }
    case 'answer': {
      const { answer, unshared, isOfKnownLength, originUrl } = arrival;
      const isToStore = unshared === null && found.state !== 'unavailable';
      const detail = unshared ?? (found.state === 'found' ? null : found.detail);
      const cache = isToStore ? 'miss' : 'bypass';
      // RFC 9211: not said before it is known.
      const isStored = isToStore && isOfKnownLength;
      return streamExchange(keyed, answer, { cache, forward, isStored, originUrl, detail });
    }
  }
}

/** The origin failed: the stale answer where that may be served, else that it failed. */
async function recover(
  { keyed, found }: Want,
  failure: FailedExchange & { readonly isCollapsed?: boolean },
  deps: PipelineDeps,
): Promise<Delivery> {
  if (found.state === 'found' && isForTrouble(keyed, found, deps.clock.now())) {
    const stale = await serveStored(keyed, found, { how: 'stale', detail: failure.reason }, deps);
    if (stale !== null) return stale;
  }
  return answerFailure(keyed, failure);
}

/** Whether the stored answer may take the place of one that can't be had. */
export function isForTrouble(keyed: Keyed, { entry }: FoundExchange, now: number): boolean {
  const { exchange, staleAt } = entry;
  return servesOnError(exchange.headers, { staleAt }, keyed.decision.policy.bypass.cache, now);
}

function errandOf(want: Want): Errand {
  const { keyed, peer, found } = want;
  return { keyed, peer, previous: previousIn(want), mayStore: found.state !== 'unavailable' };
}

function previousIn({ found }: Want): FoundExchange | null {
  return found.state === 'found' ? found : null;
}

/** One for each variant, as far as it is known what they are chosen by. */
function flightId(want: Want): string {
  const { keyed } = want;
  const selecting = selectingNow(want);
  return `${pageIdentity(keyed)}\n${JSON.stringify(selecting)}`;
}

function selectingNow({ keyed, found, names = [] }: Want): HeaderList {
  if (found.state === 'found') return found.entry.exchange.selecting;
  return chooseVariant(found.index?.names ?? names, keyed);
}

function isAgain(part: Delivery | Again): part is Again {
  return 'again' in part;
}
