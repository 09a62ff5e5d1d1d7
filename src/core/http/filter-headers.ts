// Which header fields cross which border. Nothing hop-by-hop is ever passed on (RFC 9110 §7.6.1);
// nothing that names or proves a person reaches a page fill or a stored entry.
import { parseCacheControl } from './cache-control.ts';
import { type HeaderList, headerValues } from './header-list.ts';
import { hopNames } from './hop-headers.ts';
import { isCachingField } from './tell-downstream.ts';

/** Framing, written anew for every message, and what proves us to the next proxy. */
const PER_MESSAGE: ReadonlySet<string> = new Set([
  'content-length',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'trailer',
]);

/** What storing depends on: naming these in `Connection` must not make them vanish before. */
const NEVER_NOMINATED: ReadonlySet<string> = new Set(['cdn-cache-control', 'vary']);

/** Never stored, whatever the policy lists: credentials, our own validators, this answer's age. */
const NEVER_STORED: ReadonlySet<string> = new Set([
  'age',
  'authentication-info',
  'authorization',
  'cookie',
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'x-access-token',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-refresh-token',
  'x-xsrf-token',
  // They describe the origin's bytes; the entry has its own.
  'etag',
  'last-modified',
  // They describe the coding on the wire; the entry holds decoded bytes.
  'content-digest',
  'content-encoding',
  'content-md5',
  'content-range',
  'accept-ranges',
]);

/**
 * Never sent with a fill. Credentials: the answer is for everyone. Conditions and ranges: the
 * whole page is wanted. Routing fields: they are ours to write, and unkeyed input otherwise.
 */
const NEVER_FILLED: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'x-access-token',
  'x-api-key',
  'x-auth-token',
  'x-csrf-token',
  'x-xsrf-token',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'expect',
  'host',
  'forwarded',
  'via',
  'x-host',
  'x-http-host-override',
  'x-original-url',
  'x-rewrite-url',
  'accept',
  'accept-encoding',
  'user-agent',
]);

/** Drops the hop-by-hop fields, those that `Connection` names, and the framing. */
export function filterEndToEnd(headers: HeaderList): HeaderList {
  const hops = hopNames(headers.flat());
  return headers.filter(([name]) => {
    const folded = name.toLowerCase();
    return !PER_MESSAGE.has(folded) && (!hops.has(folded) || NEVER_NOMINATED.has(folded));
  });
}

/**
 * The fields an entry keeps: what the policy lists, less what no policy may list, less what
 * the page's own `no-cache="…"` withholds (RFC 9111 §3.1). All that the site says of caching is
 * kept in any case: a part of it alone may permit what the whole forbids, and which is sent is
 * decided when the page is.
 */
export function filterStored(headers: HeaderList, safeResponse: ReadonlySet<string>): HeaderList {
  const withheld = new Set(
    headerValues(headers, 'cache-control')
      .flatMap((value) => parseCacheControl(value))
      .filter((directive) => directive.name === 'no-cache')
      .flatMap((directive) => directive.fields),
  );
  return filterEndToEnd(headers).filter(([name]) => {
    const folded = name.toLowerCase();
    const isMeant = safeResponse.has(folded) || isCachingField(folded);
    return isMeant && !NEVER_STORED.has(folded) && !withheld.has(folded);
  });
}

/** The client headers that may go along with a fill: those the policy lists and no others. */
export function filterFillRequest(
  headers: HeaderList,
  safeRequest: ReadonlySet<string>,
): HeaderList {
  return dropNeverFilled(headers).filter(([name]) => safeRequest.has(name.toLowerCase()));
}

/** Drops what no fill may carry: the last line of defence in the sources themselves. */
export function dropNeverFilled(headers: HeaderList): HeaderList {
  return filterEndToEnd(headers).filter(([name]) => {
    const folded = name.toLowerCase();
    return !NEVER_FILLED.has(folded) && !/^(x-forwarded-|proxy-|content-)/.test(folded);
  });
}
