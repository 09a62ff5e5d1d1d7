// Whether an answer that was passed on is kept for others, and for how long: RFC 9111 §3 and spec
// request-flow, "Never stored". The first reason that applies is the one that is logged.
import type { BypassCachePolicy } from '../../policy/policy.ts';
import { filterEndToEnd } from '../filter-headers.ts';
import { firstHeader, type HeaderList, headerValues } from '../header-list.ts';
import { formatHttpDate } from '../http-date.ts';
import { freshnessLifetime, initialAgeMs } from './lifetime.ts';
import { type ResponseDirectives, readResponseDirectives } from './response-directives.ts';
import { forbidsStale, forbidsUnaskedStale, isStorable } from './shared-policy.ts';
import { varyNames } from './vary.ts';

export interface PassedAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  readonly receivedAt: number;
}

export interface AnswerQuestion {
  readonly answer: PassedAnswer;
  readonly policy: BypassCachePolicy;
  /** The request had `Authorization` (§3.5). */
  readonly hasAuthorization: boolean;
}

export type UnsharedReason =
  | 'status'
  | 'set_cookie'
  | 'no_store'
  | 'private'
  | 'authorization'
  | 'vary'
  | 'content_type'
  | 'event_stream'
  | 'stale'
  | 'ttl';

export interface KeptAnswer {
  /** End-to-end fields without `Age`, without those that are withheld, with a `Date`. */
  readonly headers: HeaderList;
  readonly initialAgeMs: number;
  /** Lower-case names of the request fields it was chosen by. */
  readonly vary: readonly string[];
  /** Epoch milliseconds. */
  readonly cachedAt: number;
  readonly staleAt: number;
  readonly deleteAt: number;
}

export type AnswerJudgement =
  | { readonly store: true; readonly kept: KeptAnswer }
  | { readonly store: false; readonly reason: UnsharedReason };

/** Statuses whose meaning for caches we know, for `must-understand` (§5.2.2.3). */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 500, 501, 502, 503, 504,
]);
/** Never stored, whatever the answer says of itself. */
const NEVER_KEPT: ReadonlySet<string> = new Set(['age', 'content-length', 'trailer']);

export function judgeAnswer(question: AnswerQuestion): AnswerJudgement {
  const { answer, policy } = question;
  const { headers, receivedAt } = answer;
  const directives = readResponseDirectives(headers);
  const vary = varyNames(headers);
  const said = freshnessLifetime(headers, directives, receivedAt);
  const silent = directives.isReadable ? silentLifetime(answer.status, policy) : null;
  const lifetimeSeconds = said ?? silent;
  const reason =
    findRefusal(question, directives) ??
    (vary === null ? 'vary' : null) ??
    (lifetimeSeconds === null ? 'ttl' : null);
  if (reason !== null || vary === null || lifetimeSeconds === null) {
    return { store: false, reason: reason ?? 'ttl' };
  }
  const ageMs = initialAgeMs(headers, answer);
  const leftMs = Math.max(0, lifetimeSeconds * 1000 - ageMs);
  const keepMs = keptAfter(directives, policy);
  const isUseful = leftMs > 0 || (keepMs > 0 && hasValidator(headers));
  if (!isUseful) return { store: false, reason: 'stale' };
  const staleAt = receivedAt + leftMs;
  return {
    store: true,
    kept: {
      headers: keptHeaders(headers, directives, receivedAt),
      initialAgeMs: Number.isFinite(ageMs) ? ageMs : lifetimeSeconds * 1000,
      vary,
      cachedAt: receivedAt,
      staleAt,
      deleteAt: staleAt + keepMs,
    },
  };
}

/** For answers that say nothing about freshness, the configuration speaks. */
function silentLifetime(status: number, policy: BypassCachePolicy): number | null {
  return policy.statusCodes.has(status) && policy.ttlMs > 0 ? policy.ttlMs / 1000 : null;
}

function findRefusal(
  { answer: { status, headers, receivedAt }, hasAuthorization }: AnswerQuestion,
  directives: ResponseDirectives,
): UnsharedReason | null {
  const isWhole = status >= 200 && status <= 599 && status !== 206 && status !== 304;
  if (!isWhole || (directives.mustUnderstand && !UNDERSTOOD.has(status))) return 'status';
  // An obsolete name for the same thing counts as well: nobody else may have it.
  if (['set-cookie', 'set-cookie2'].some((name) => headerValues(headers, name).length > 0)) {
    return 'set_cookie';
  }
  const known = { directives, bornAt: receivedAt, lifetimeSeconds: 1, hasAuthorization };
  if (!isStorable(known)) {
    if (directives.noStore) return 'no_store';
    return directives.isPrivate ? 'private' : 'authorization';
  }
  if (new Set(headerValues(headers, 'content-type')).size > 1) return 'content_type';
  const type = firstHeader(headers, 'content-type') ?? '';
  return /^text\/event-stream\b/i.test(type) ? 'event_stream' : null;
}

/** How long it is kept when it is fresh no more: to be validated, or served where that may be. */
function keptAfter(directives: ResponseDirectives, { expired }: BypassCachePolicy): number {
  const configuredMs = expired.strategy === 'serve_stale' ? expired.staleTtlMs : 0;
  if (forbidsStale(directives)) return configuredMs;
  const { staleWhileRevalidate, staleIfError } = directives;
  return Math.max(configuredMs, (staleWhileRevalidate ?? 0) * 1000, (staleIfError ?? 0) * 1000);
}

/**
 * Whether a stale answer may take the place of an origin's failure (RFC 5861 §4): as long as the
 * origin allows, else as long as the configuration does.
 */
export function servesOnError(
  headers: HeaderList,
  { staleAt }: Pick<KeptAnswer, 'staleAt'>,
  { expired }: BypassCachePolicy,
  now: number,
): boolean {
  const directives = readResponseDirectives(headers);
  if (forbidsStale(directives)) return false;
  if (directives.staleIfError !== null) return now < staleAt + directives.staleIfError * 1000;
  const isConfigured = expired.strategy === 'serve_stale' && now < staleAt + expired.staleTtlMs;
  return isConfigured && !forbidsUnaskedStale(directives);
}

function hasValidator(headers: HeaderList): boolean {
  return ['etag', 'last-modified'].some((name) => headerValues(headers, name).length > 0);
}

function keptHeaders(
  headers: HeaderList,
  { withheld }: ResponseDirectives,
  receivedAt: number,
): HeaderList {
  const kept = filterEndToEnd(headers).filter(([name]) => {
    const folded = name.toLowerCase();
    return !NEVER_KEPT.has(folded) && !withheld.has(folded);
  });
  // RFC 9110 §6.6.1: who stores an answer without a date gives it one.
  const hasDate = kept.some(([name]) => name.toLowerCase() === 'date');
  return hasDate ? kept : [...kept, ['Date', formatHttpDate(receivedAt)]];
}
