// Where a Redis is, and what every connection to it has in common, whoever makes it: the store and
// the refresh queue. User, password and TLS go with every connection and nowhere else.

export interface RedisLogin {
  readonly user: string | null;
  readonly password: string | null;
  readonly tls: boolean;
}

/** One server, the master that Sentinels name, or the nodes of a Cluster. */
export type RedisTarget =
  /** `redis://` or `rediss://` with everything in it. */
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      /** `host:port` of each. */
      readonly sentinels: readonly string[];
      /** Of the master. */
      readonly name: string;
      readonly login: RedisLogin;
      readonly db: number;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly string[]; readonly login: RedisLogin };

/** How long a connection may take to be made, and a Sentinel to answer. */
export const CONNECT_TIMEOUT_MS = 1_000;

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;

/** How long to wait before attempt number so many, counting from 1. */
export function pauseBefore(attempt: number): number {
  return Math.min(PAUSE_MIN_MS * 2 ** Math.min(attempt, 10), PAUSE_MAX_MS);
}

/** Splits `host:port`; an IPv6 address is in brackets. */
export function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

export interface LoginOptions {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
}

/** A login as the client library takes it. */
export function loginOptions({ user, password, tls }: RedisLogin): LoginOptions {
  return {
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    ...(tls && { tls: {} }),
  };
}
