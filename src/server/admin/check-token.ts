// Who may use the admin listener. With a token: whoever knows it, compared in constant time. Without
// one the listener is on loopback, and what has to be kept out is a web page in a local browser.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK_HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i;

export function isAllowed(headers: IncomingHttpHeaders, token: string | null): boolean {
  if (token === null) {
    return headers.origin === undefined && LOOPBACK_HOST.test(headers.host ?? '');
  }
  const [scheme, given] = (headers.authorization ?? '').split(' ', 2);
  return scheme?.toLowerCase() === 'bearer' && isSameSecret(given ?? '', token);
}

/** Hashed first: the comparison then needs no equal lengths and tells nothing about them. */
function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
