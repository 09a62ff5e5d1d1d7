// What a request may do with an answer that is stored, and what is asked of the origin about it.
import type { Freshness } from '../freshness.ts';
import { type HeaderList, headerValues } from '../header-list.ts';
import { hasCredentials } from './judge-request.ts';
import { readRequestDirectives } from './request-directives.ts';
import { readResponseDirectives } from './response-directives.ts';
import { isStorable, judgeUse, type KnownAnswer, type Usability } from './shared-policy.ts';

/** The part of a stored answer that decides. */
export interface StoredAnswer {
  readonly headers: HeaderList;
  readonly initialAgeMs: number;
  /** Epoch milliseconds. */
  readonly cachedAt: number;
  readonly staleAt: number;
}

/** @param freshness by the store, which also knows of purges */
export function judgeStored(
  stored: StoredAnswer,
  request: HeaderList,
  freshness: Exclude<Freshness, 'expired'>,
  now: number,
): Usability {
  const known = knownOf(stored, hasCredentials(request));
  // §3.5 the other way round: who proves who they are gets only what is said to be for everybody.
  if (!isStorable(known)) return 'validate';
  const use = judgeUse(known, readRequestDirectives(request), now);
  return freshness === 'stale' && use === 'fresh' ? 'validate' : use;
}

function knownOf(
  { headers, initialAgeMs, cachedAt, staleAt }: StoredAnswer,
  hasAuthorization: boolean,
): KnownAnswer {
  const bornAt = cachedAt - initialAgeMs;
  const lifetimeSeconds = Math.floor((staleAt - bornAt) / 1000);
  return { directives: readResponseDirectives(headers), bornAt, lifetimeSeconds, hasAuthorization };
}

/** Conditions by which the origin can say that the stored answer is still the one (§4.3.1). */
export function validationFields(stored: HeaderList): HeaderList {
  const [etag] = headerValues(stored, 'etag');
  const [modified] = headerValues(stored, 'last-modified');
  return [
    ...(etag === undefined ? [] : [['If-None-Match', etag] as const]),
    ...(modified === undefined ? [] : [['If-Modified-Since', modified] as const]),
  ];
}

/** Fields that describe the stored bytes, which a 304 does not bring along (§3.2). */
const OF_THE_BYTES: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-md5',
  'content-range',
  'etag',
]);

/**
 * The stored fields as a 304 has renewed them (§3.2): all of one name at once. The old date goes in
 * any case: it is not that of the 304.
 */
export function mergeFields(stored: HeaderList, renewed: HeaderList): HeaderList {
  const news = renewed.filter(([name]) => !OF_THE_BYTES.has(name.toLowerCase()));
  const names = new Set(['date', ...news.map(([name]) => name.toLowerCase())]);
  return [...stored.filter(([name]) => !names.has(name.toLowerCase())), ...news];
}
