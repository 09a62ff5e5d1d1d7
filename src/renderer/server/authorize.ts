// Who may ask for renders. With a token: whoever knows it, compared in constant time. Without one
// the service is on loopback or a socket file, and what has to be kept out is a page in a local
// browser.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { RenderListen } from '../options.ts';

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?)$/i;

/** Whether a listener is out of reach from other machines. */
export function isLocal(listen: RenderListen): boolean {
  return 'path' in listen || LOOPBACK.test(listen.host);
}

/** Whether the sender of these headers may render. */
export function isAuthorized(headers: IncomingHttpHeaders, token: string | null): boolean {
  if (token === null)
    return headers.origin === undefined && headers['sec-fetch-site'] === undefined;
  const [scheme, given] = (headers.authorization ?? '').split(' ', 2);
  return scheme?.toLowerCase() === 'bearer' && isSameSecret(given ?? '', token);
}

/** Hashed first: the comparison then needs no equal lengths and tells nothing about them. */
function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
