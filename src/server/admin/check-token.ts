// Who may use the admin listener. With a token: whoever knows it, compared in constant time.
// Without one the listener is on loopback, and what has to be kept out is a web page in a local
// browser.
import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '../is-same-secret.ts';

const LOOPBACK_HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i;

export function isAllowed(headers: IncomingHttpHeaders, token: string | null): boolean {
  if (token === null) {
    return headers.origin === undefined && LOOPBACK_HOST.test(headers.host ?? '');
  }
  const [scheme, given] = (headers.authorization ?? '').split(' ', 2);
  return scheme?.toLowerCase() === 'bearer' && isSameSecret(given ?? '', token);
}
