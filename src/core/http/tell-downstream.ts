// What caches in front of the gateway are told in header fields: one URL has a page for crawlers
// and another for people, and a cache that takes one for the other undoes all that is done here.
import { isHtml } from './content-kind.ts';
import { fieldMembers, firstHeader, type HeaderList } from './header-list.ts';

/**
 * What becomes of an answer that is passed on. `as_sent`: its origin's own word stays.
 * `html_varies`: HTML is another for other User-Agents. `html_unkept`: HTML is for nobody to keep.
 * `unkept`: whatever it is.
 */
export type Downstream = 'as_sent' | 'html_varies' | 'html_unkept' | 'unkept';

/**
 * `no-store` says it, also to whoever asked; `private` is for the shared caches that only know
 * that word (Fastly's).
 */
export const UNKEPT_CONTROL = 'private, no-store';

/** Also the fields that one kind of cache reads in place of Cache-Control (RFC 9213). */
const CACHING_FIELD =
  /^(?:(?:[^:]*-)?cache-control|expires|surrogate-control|edge-control|x-accel-expires)$/i;

/** Whether a field says how long an answer may be kept. */
export function isCachingField(name: string): boolean {
  return CACHING_FIELD.test(name);
}

/** The fields of an answer as they go out. */
export function tellDownstream(headers: HeaderList, downstream: Downstream): HeaderList {
  if (downstream === 'as_sent') return headers;
  if (downstream !== 'unkept' && !mayBeHtml(headers)) return headers;
  const varied = addVary(headers);
  if (downstream === 'html_varies') return varied;
  return [
    ...varied.filter(([name]) => !isCachingField(name)),
    ['Cache-Control', UNKEPT_CONTROL] as const,
  ];
}

/** 304 and redirects seldom have a type. */
function mayBeHtml(headers: HeaderList): boolean {
  const type = firstHeader(headers, 'content-type');
  return type === null || isHtml(type);
}

/** On the origin's own line, for caches that read no second one. */
function addVary(headers: HeaderList): HeaderList {
  const members = fieldMembers(headers, 'vary').map((member) => member.toLowerCase());
  if (members.includes('*') || members.includes('user-agent')) return headers;
  const at = headers.findIndex(([name]) => name.toLowerCase() === 'vary');
  const [name, value] = headers[at] ?? ['Vary', ''];
  const field = [name, value.trim() === '' ? 'User-Agent' : `${value}, User-Agent`] as const;
  return at === -1 ? [...headers, field] : headers.with(at, field);
}
