// Whether a client already has the bytes it asks for (RFC 9110 §13). If-None-Match decides alone
// when it is there, by weak comparison; If-Modified-Since only without it; both only for GET
// and HEAD.
import { type HeaderList, headerValues } from './header-list.ts';
import { parseHttpDate } from './http-date.ts';

export interface Validators {
  /** With its quotes, weak or not: `W/"96ba2d5b7d32d005"`; null: it has none. */
  readonly etag: string | null;
  /** When the bytes last changed, epoch milliseconds; null: not known. */
  readonly modifiedAt: number | null;
}

/** The weak entity tag of our bytes, by their hash. */
export function formatEtag(bodyHash: string): string {
  return `W/"${bodyHash}"`;
}

/** True when 304 is the answer. */
export function isNotModified(
  method: string,
  requestHeaders: HeaderList,
  validators: Validators,
): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const ifNoneMatch = headerValues(requestHeaders, 'if-none-match');
  if (ifNoneMatch.length > 0) return matchesAnyTag(ifNoneMatch.join(','), validators.etag);
  const [since, ...others] = headerValues(requestHeaders, 'if-modified-since');
  const { modifiedAt } = validators;
  if (since === undefined || others.length > 0 || modifiedAt === null) return false;
  const sinceMs = parseHttpDate(since);
  return sinceMs !== null && Math.floor(modifiedAt / 1000) * 1000 <= sinceMs;
}

/** The fields of an answer that describe no content: a 304 has none (RFC 9110 §15.4.5). */
export function withoutContent(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !/^content-(type|length|encoding|language|range)$/i.test(name));
}

/** Weak comparison (RFC 9110 §8.8.3.2): the `W/` marks do not count. */
function matchesAnyTag(list: string, etag: string | null): boolean {
  if (list.trim() === '*') return true;
  if (etag === null) return false;
  const opaque = etag.replace(/^W\//, '');
  const tags: readonly string[] = list.match(/"[!#-~\u0080-\u00ff]*"/g) ?? [];
  return tags.includes(opaque);
}
