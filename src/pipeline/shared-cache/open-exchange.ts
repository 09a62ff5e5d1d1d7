// One request passed on to the origin for an answer that may be kept. It opens with the head of the
// answer, which is for the one who asked; it ends when the body is stored, or turned out to be
// nobody else's. It belongs to no client from then on.
import { firstHeader } from '../../core/http/header-list.ts';
import {
  type AnswerJudgement,
  judgeAnswer,
  servesOnError,
  type UnsharedReason,
} from '../../core/http/shared-cache/judge-answer.ts';
import { hasCredentials, withoutConditions } from '../../core/http/shared-cache/judge-request.ts';
import { mergeFields, validationFields } from '../../core/http/shared-cache/judge-stored.ts';
import { varyNames } from '../../core/http/shared-cache/vary.ts';
import { LIMITS } from '../../core/limits.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import { backOff } from '../fetch/failure-memory.ts';
import type { RunningFill } from '../fetch/running-fills.ts';
import type { OriginAnswer, PassJob, Peer } from '../origin-ports.ts';
import type { FetchFailure } from '../ports.ts';
import type { Keyed } from '../state.ts';
import { chooseVariant } from './choose-variant.ts';
import type { PassedOn } from './deliver-exchange.ts';
import { type ExchangeEnd, type FailedExchange, unshared } from './exchange-end.ts';
import type { ExchangeEntry, FoundExchange } from './find-exchange.ts';
import { keepExchange } from './keep-exchange.ts';
import { dropBody, passBody, streamOf } from './origin-body.ts';

export interface Errand {
  readonly keyed: Keyed;
  readonly peer: Peer;
  /** Asked about, so that the origin may say that it still is the one. */
  readonly previous: FoundExchange | null;
  /** false: the store could not be asked. */
  readonly mayStore: boolean;
}

/** What the one who asked gets. */
export type Arrival =
  | {
      readonly kind: 'answer';
      readonly answer: PassedOn;
      /** null: it is kept. */
      readonly unshared: UnsharedReason | 'unframed' | 'too_large' | null;
      /** Nobody else may have it without asking the origin. */
      readonly isForOne: boolean;
    }
  /** A 304: the stored answer, with what it brought. */
  | {
      readonly kind: 'renewed';
      readonly entry: ExchangeEntry;
      readonly body: Buffer;
      readonly isStored: boolean;
    }
  | FailedExchange;

export interface OpenExchange {
  readonly arrival: Arrival;
  readonly end: Promise<ExchangeEnd>;
  /** Resolves when nothing is left to be done for the store. */
  readonly kept: Promise<unknown>;
}

const NOT_MODIFIED = 304;
const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export async function openExchange(errand: Errand, deps: PipelineDeps): Promise<OpenExchange> {
  const running = deps.fills.start(pageIdentity(errand.keyed));
  try {
    const opened = await open(errand, running, deps);
    opened.kept.catch(deps.onDefect).finally(running.end);
    return opened;
  } catch (error) {
    running.end();
    throw error;
  }
}

async function open(
  errand: Errand,
  running: RunningFill,
  deps: PipelineDeps,
): Promise<OpenExchange> {
  const { keyed, previous } = errand;
  const requestedAt = deps.clock.now();
  const result = await deps.origin.pass(jobOf(errand));
  if (result.outcome === 'failed') return failed(result.reason, result.detail);
  const receivedAt = deps.clock.now();
  const times = { requestedAt, receivedAt };
  const { answer } = result;
  if (previous !== null && answer.status === NOT_MODIFIED) {
    dropBody(answer.body);
    const renewed = await renew(errand, { answer, ...times, running }, deps);
    // Ours is gone: without conditions the whole one comes.
    return renewed ?? (await open({ ...errand, previous: null }, running, deps));
  }
  const { policy } = keyed.decision;
  if (previous !== null && ERRORS.has(answer.status)) {
    const { exchange, staleAt } = previous.entry;
    const isWanted = servesOnError(exchange.headers, { staleAt }, policy.bypass.cache, receivedAt);
    if (isWanted && (await isStillThere(keyed, previous, deps))) {
      dropBody(answer.body);
      return failed('destination_unavailable', `status_${answer.status}`);
    }
  }
  const judgement = judgeAnswer({
    answer: { status: answer.status, headers: answer.headers, ...times },
    policy: policy.bypass.cache,
    hasAuthorization: hasCredentials(keyed.request.headers),
  });
  return await carry(errand, { answer, judgement, running }, deps);
}

interface Carried {
  readonly answer: OriginAnswer;
  readonly judgement: AnswerJudgement;
  readonly running: RunningFill;
}

/** The answer goes to its client; a copy to the store, where it may be kept. */
async function carry(
  { keyed, previous, mayStore }: Errand,
  { answer, judgement, running }: Carried,
  deps: PipelineDeps,
): Promise<OpenExchange> {
  const { status, reason, headers, trailers } = answer;
  const bytesMax = keyed.site.pageBytesMax;
  const reasonAgainst = findUnshared(answer, judgement, bytesMax);
  if (reasonAgainst !== null || !judgement.store) {
    // What the origin no longer lets us keep must not be served in its place later.
    if (previous !== null && status < 500) {
      await deps.pages.withdraw(previous.key, previous.ref, keyed.decision.normalized);
    }
    const passed = { status, reason, headers, body: passBody(answer) };
    return ended(
      { kind: 'answer', answer: passed, unshared: reasonAgainst, isForOne: true },
      unshared(),
    );
  }
  const idleMs = LIMITS.originBodyIdleTimeoutMs;
  const { stream, whole, release } = deps.collectBody(streamOf(answer.body), { bytesMax, idleMs });
  const keep = async (): Promise<ExchangeEnd> => {
    const body = await whole;
    if (body === 'too_much') return unshared();
    if (body === 'cut') return giveUp(keyed, running, deps);
    const { kept } = judgement;
    const selecting = chooseVariant(kept.vary, keyed);
    const shared = { status, kept, selecting, body, since: running.since };
    if (!mayStore) return { kind: 'shared', shared, isStored: false };
    const keeping = (): Promise<boolean> => keepExchange(keyed, shared, running, deps);
    // Whoever gets no turn leaves the store as it is: the others store as good an answer.
    const save = deps.storing.take(keyed.key, keeping);
    const isStored = (await deps.saves.note(pageIdentity(keyed), save)) === true;
    return { kind: 'shared', shared, isStored };
  };
  const isForOne = judgement.kept.staleAt <= judgement.kept.cachedAt;
  const passed = { status, reason, headers, body: { stream, trailers } };
  const kept = keep().finally(release);
  return {
    arrival: { kind: 'answer', answer: passed, unshared: null, isForOne },
    end: isForOne ? Promise.resolve(unshared()) : kept,
    kept,
  };
}

/** Nobody of those who wait has to find out again; who comes next tries anew. */
function giveUp(keyed: Keyed, running: RunningFill, deps: PipelineDeps): FailedExchange {
  const cause = { reason: 'http_response_incomplete', detail: 'cut_off' } as const;
  if (!running.isPurged()) backOff(keyed, { outcome: 'failed', ...cause }, deps);
  return { kind: 'failed', ...cause };
}

/** A purge may have come meanwhile: then nothing can take the place of the origin's error. */
async function isStillThere(
  { decision }: Keyed,
  { key, ref }: FoundExchange,
  deps: PipelineDeps,
): Promise<boolean> {
  return (await deps.pages.lookUp(key, ref, decision.normalized)).state === 'hit';
}

function findUnshared(
  { headers, body, isDelimited }: OriginAnswer,
  judgement: AnswerJudgement,
  bytesMax: number,
): UnsharedReason | 'unframed' | 'too_large' | null {
  if (!judgement.store) return judgement.reason;
  if (!isDelimited) return 'unframed';
  const bytes = Buffer.isBuffer(body) ? body.length : firstHeader(headers, 'content-length');
  return Number(bytes ?? 0) > bytesMax ? 'too_large' : null;
}

interface Renewal {
  readonly answer: OriginAnswer;
  readonly requestedAt: number;
  readonly receivedAt: number;
  readonly running: RunningFill;
}

/** null: what is stored can't be read. */
async function renew(
  { keyed, previous, mayStore }: Errand,
  { answer, running, ...times }: Renewal,
  deps: PipelineDeps,
): Promise<OpenExchange | null> {
  if (previous === null) return null;
  const { key, ref, entry } = previous;
  const { exchange, status } = entry;
  const read = await deps.pages.readBody(entry, 'identity');
  if (read.state !== 'found') return null;
  const headers = mergeFields(exchange.headers, answer.headers);
  const { policy, normalized } = keyed.decision;
  const hasAuthorization = hasCredentials(keyed.request.headers);
  const judgement = judgeAnswer({
    answer: { status, headers, ...times },
    policy: policy.bypass.cache,
    hasAuthorization,
  });
  const body = read.value;
  if (!isSameTag(firstHeader(exchange.headers, 'etag'), firstHeader(answer.headers, 'etag'))) {
    return ended({ kind: 'renewed', entry, body, isStored: false }, unshared());
  }
  if (!judgement.store) {
    if (mayStore) await deps.pages.withdraw(key, ref, normalized);
    const changed = { ...entry, exchange: { ...exchange, headers } };
    return ended({ kind: 'renewed', entry: changed, body, isStored: false }, unshared());
  }
  const { kept } = judgement;
  const { since } = running;
  const { softened: _before, ...lasting } = entry;
  const next: ExchangeEntry = {
    ...lasting,
    since,
    exchange: { ...exchange, headers: kept.headers, initialAgeMs: Math.round(kept.initialAgeMs) },
    cachedAt: kept.cachedAt,
    staleAt: Math.round(kept.staleAt),
    deleteAt: Math.round(kept.deleteAt),
  };
  const selecting = chooseVariant(kept.vary, keyed);
  const shared = { status, kept, selecting, body, since };
  let isStored = false;
  if (mayStore && varyNames(exchange.headers)?.join() === kept.vary.join()) {
    const renewal = { previous: entry, next, isPurged: running.isPurged };
    const renewed = await deps.pages.renew(key, renewal);
    isStored = renewed.state === 'done' && renewed.value;
  } else if (mayStore) {
    // By now it is chosen by other fields, so it is to be found somewhere else.
    await deps.pages.withdraw(key, ref, normalized);
    const keeping = (): Promise<boolean> => keepExchange(keyed, shared, running, deps);
    isStored = (await deps.storing.take(keyed.key, keeping)) === true;
  }
  const isForOne = kept.staleAt <= kept.cachedAt;
  const end: ExchangeEnd = isForOne ? unshared() : { kind: 'shared', shared, isStored };
  return ended({ kind: 'renewed', entry: next, body, isStored }, end);
}

/**
 * RFC 9111 §4.3.4: a 304 that names another tag than ours renews nothing, though it says that ours
 * still is the one.
 */
function isSameTag(stored: string | null, named: string | null): boolean {
  const opaque = (tag: string): string => tag.replace(/^W\//, '');
  return named === null || (stored !== null && opaque(stored) === opaque(named));
}

function jobOf({ keyed, peer, previous }: Errand): PassJob {
  const { host, decision, request, onInformation } = keyed;
  const { timeoutMs, userAgent } = decision.policy.bypass;
  const conditions = previous === null ? [] : validationFields(previous.entry.exchange.headers);
  return {
    host,
    url: decision.normalized,
    headers: [...withoutConditions(request.headers), ...conditions],
    peer,
    httpVersion: request.httpVersion,
    userAgent,
    timeoutMs,
    onInformation,
  };
}

function failed(reason: FetchFailure, detail: string): OpenExchange {
  const failure: FailedExchange = { kind: 'failed', reason, detail };
  return ended(failure, failure);
}

/** Nothing is left to be done. */
function ended(arrival: Arrival, end: ExchangeEnd): OpenExchange {
  return { arrival, end: Promise.resolve(end), kept: Promise.resolve() };
}
