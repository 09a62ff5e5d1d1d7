// One request passed on to the origin for an answer that may be kept. It opens with the head of the
// answer, which is for the one who asked; it ends when the body is stored, or turned out to be
// nobody else's. It belongs to no client from then on.
import { firstHeader } from '../../core/http/header-list.ts';
import { judgeAnswer, servesOnError } from '../../core/http/shared-cache/judge-answer.ts';
import { hasCredentials, withoutConditions } from '../../core/http/shared-cache/judge-request.ts';
import { mergeFields, validationFields } from '../../core/http/shared-cache/judge-stored.ts';
import { varyNames } from '../../core/http/shared-cache/vary.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { RunningFill } from '../fetch/running-fills.ts';
import type { OriginAnswer, PassJob } from '../origin-ports.ts';
import type { Keyed } from '../state.ts';
import { carryAnswer } from './carry-answer.ts';
import { chooseVariant } from './choose-variant.ts';
import { type Errand, ended, type OpenExchange } from './errand.ts';
import { type ExchangeEnd, type FailedExchange, unshared } from './exchange-end.ts';
import type { ExchangeEntry, FoundExchange } from './find-exchange.ts';
import { keepExchange } from './keep-exchange.ts';
import { dropBody } from './origin-body.ts';

const NOT_MODIFIED = 304;
const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export async function openExchange(errand: Errand, deps: PipelineDeps): Promise<OpenExchange> {
  const running = deps.fills.start(pageIdentity(errand.keyed));
  try {
    const opened = await open(errand, running, deps);
    opened.kept.catch(deps.onDefect).finally(running.end);
    // It fails with the other, which is told.
    opened.end.catch(() => undefined);
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
  const { originUrl } = result;
  if (result.outcome === 'failed') return failed(result);
  const receivedAt = deps.clock.now();
  const times = { requestedAt, receivedAt };
  const { answer } = result;
  if (previous !== null && answer.status === NOT_MODIFIED) {
    dropBody(answer.body);
    const renewed = await renew(errand, { answer, originUrl, ...times, running }, deps);
    // Ours is gone: without conditions the whole one comes.
    return renewed ?? (await open({ ...errand, previous: null }, running, deps));
  }
  const { policy } = keyed.decision;
  if (previous !== null && ERRORS.has(answer.status)) {
    const { exchange, staleAt } = previous.entry;
    const isWanted = servesOnError(exchange.headers, { staleAt }, policy.bypass.cache, receivedAt);
    if (isWanted && (await isStillThere(keyed, previous, deps))) {
      dropBody(answer.body);
      const detail = `status_${answer.status}`;
      return failed({ reason: 'destination_unavailable', detail, originUrl });
    }
  }
  const judgement = judgeAnswer({
    answer: { status: answer.status, headers: answer.headers, ...times },
    policy: policy.bypass.cache,
    hasAuthorization: hasCredentials(keyed.request.headers),
  });
  return await carryAnswer(errand, { answer, originUrl, judgement, running }, deps);
}

/** A purge may have come meanwhile: then nothing can take the place of the origin's error. */
async function isStillThere(
  { decision }: Keyed,
  { key, ref }: FoundExchange,
  deps: PipelineDeps,
): Promise<boolean> {
  return (await deps.pages.lookUp(key, ref, decision.normalized)).state === 'hit';
}

interface Renewal {
  readonly originUrl: string;
  readonly answer: OriginAnswer;
  readonly requestedAt: number;
  readonly receivedAt: number;
  readonly running: RunningFill;
}

/** null: what is stored can't be read. */
async function renew(
  { keyed, previous, mayStore }: Errand,
  { answer, originUrl, running, ...times }: Renewal,
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
    return ended({ kind: 'renewed', entry, body, isStored: false, originUrl }, unshared());
  }
  if (!judgement.store) {
    if (mayStore) await deps.pages.withdraw(key, ref, normalized);
    const changed = { ...entry, exchange: { ...exchange, headers } };
    return ended({ kind: 'renewed', entry: changed, body, isStored: false, originUrl }, unshared());
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
  return ended({ kind: 'renewed', entry: next, body, isStored, originUrl }, end);
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

function failed(failure: Omit<FailedExchange, 'kind'>): OpenExchange {
  const { reason, detail, originUrl } = failure;
  const told: FailedExchange = { kind: 'failed', reason, detail, originUrl };
  return ended(told, told);
}
