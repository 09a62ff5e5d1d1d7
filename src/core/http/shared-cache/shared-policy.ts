// http-cache-semantics, asked with what the strict readers beside it found, in the form it stores
// its own answers in: so it decides by RFC 9111, on the caller's clock, and parses nothing.
import CachePolicy from 'http-cache-semantics';
import type { RequestDirectives } from './request-directives.ts';
import type { ResponseDirectives } from './response-directives.ts';

/** What is known of an answer. */
export interface KnownAnswer {
  readonly directives: ResponseDirectives;
  /** Made by the origin, epoch milliseconds: before it came, by the age it had then. */
  readonly bornAt: number;
  readonly lifetimeSeconds: number;
  /** Of the request that it answered. */
  readonly hasAuthorization: boolean;
}

/** `refresh`: may be served now, and is fetched anew meanwhile (RFC 5861 §3). */
export type Usability = 'fresh' | 'stale' | 'refresh' | 'validate';

/** Whether RFC 9111 §3 lets a shared cache keep it; statuses are the caller's to judge. */
export function isStorable(answer: KnownAnswer): boolean {
  return policyOf(answer, answer.bornAt).storable();
}

/** What a request may do with the answer (§4): its variant and its URL have been compared. */
export function judgeUse(answer: KnownAnswer, asked: RequestDirectives, now: number): Usability {
  const policy = policyOf(answer, now);
  const isFresh = !policy.stale();
  // RFC 8246: a fresh answer that never changes is not asked for again.
  const wishes = isFresh && answer.directives.isImmutable ? {} : formatWishes(asked, answer);
  const { response, revalidation } = policy.evaluateRequest({ method: 'GET', headers: wishes });
  if (response === undefined) return 'validate';
  if (revalidation !== undefined) return 'refresh';
  return isFresh ? 'fresh' : 'stale';
}

/** Stale is out of the question, whoever asks for it (§4.2.4). */
export function forbidsStale(directives: ResponseDirectives): boolean {
  return directives.mustRevalidate || directives.proxyRevalidate || directives.noCache;
}

/** The same for who only has the operator's word: `s-maxage` is said to shared caches alone. */
export function forbidsUnaskedStale(directives: ResponseDirectives): boolean {
  return forbidsStale(directives) || (directives.sMaxAge !== null && !directives.isTargeted);
}

function policyOf(answer: KnownAnswer, now: number): CachePolicy {
  const { directives, bornAt, lifetimeSeconds, hasAuthorization } = answer;
  const allowsAuthorized =
    directives.isPublic || directives.mustRevalidate || directives.sMaxAge !== null;
  const windowSeconds = forbidsStale(directives) ? 0 : (directives.staleWhileRevalidate ?? 0);
  const policy = CachePolicy.fromObject({
    v: 1,
    t: bornAt,
    sh: true,
    ch: 0,
    imm: 0,
    st: 200,
    resh: {},
    rescc: {
      'max-age': String(lifetimeSeconds),
      ...(directives.noStore && { 'no-store': 'true' }),
      ...(directives.isPrivate && { private: 'true' }),
      ...(allowsAuthorized && { public: 'true' }),
      ...(windowSeconds > 0 && { 'stale-while-revalidate': String(windowSeconds) }),
    },
    m: 'GET',
    a: !hasAuthorization,
    reqh: null,
    reqcc: {},
  });
  return Object.assign(policy, { now: () => now });
}

function formatWishes(asked: RequestDirectives, answer: KnownAnswer): Record<string, string> {
  const mayBeStale = asked.maxStale !== null && !forbidsUnaskedStale(answer.directives);
  const wishes = [
    ...(asked.noCache ? ['no-cache'] : []),
    ...(asked.maxAge === null ? [] : [`max-age=${asked.maxAge}`]),
    ...(asked.minFresh === null ? [] : [`min-fresh=${asked.minFresh}`]),
    ...(mayBeStale ? [asked.maxStale === 'any' ? 'max-stale' : `max-stale=${asked.maxStale}`] : []),
  ];
  return { 'cache-control': wishes.join(',') };
}
