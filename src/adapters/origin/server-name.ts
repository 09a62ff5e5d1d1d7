// The name that an origin's certificate is checked against: always that of the configured origin,
// whatever `Host` says.
import { isIP } from 'node:net';

export interface ServerName {
  readonly servername?: string;
}

/** For the options of a request; an address has no name of its own. */
export function serverName(originUrl: string): ServerName {
  const { hostname } = new URL(originUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {};
}
