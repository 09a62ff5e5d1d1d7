// Where Redis is, and how a connection to it is opened: one server, the master that Sentinels name,
// or the nodes of a Cluster. User, password and TLS go with every connection and nowhere else: no
// name and no message made here holds them.
import { Redis, type RedisOptions } from 'ioredis';

export interface RedisLogin {
  readonly user: string | null;
  readonly password: string | null;
  readonly tls: boolean;
}

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

/** What may differ between connections to one server. */
export type ClientOptions = Pick<RedisOptions, 'commandTimeout' | 'retryStrategy'>;

/** A server that can be connected to, again and again. */
export interface RedisServerPlace {
  /** For messages. */
  readonly name: string;
  /** Gives a client that has not connected yet. */
  readonly open: (options: ClientOptions) => Redis;
}

type LoginOptions = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

/** How long a connection may take to be made, and a Sentinel to answer. */
export const CONNECT_TIMEOUT_MS = 1_000;
/** How long a connection that is given up may take to close in good order. */
const DISCONNECT_TIMEOUT_MS = 50;

const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;

/** Nothing waits for a connection, and nothing is sent twice. */
const SHARED = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  retryStrategy: null,
} satisfies RedisOptions;

/** How long to wait before attempt number so many, counting from 1. */
export function pauseBefore(attempt: number): number {
  return Math.min(PAUSE_MIN_MS * 2 ** Math.min(attempt, 10), PAUSE_MAX_MS);
}

/** The one server of a URL, or the master that the Sentinels name at the time of connecting. */
export function placeOf(target: Exclude<RedisTarget, { kind: 'cluster' }>): RedisServerPlace {
  if (target.kind === 'single') {
    const { url } = target;
    return {
      name: new URL(url).host,
      open: (options) => new Redis(url, { ...SHARED, ...options }),
    };
  }
  const { sentinels, name, login, db } = target;
  return {
    name,
    open: (options) =>
      new Redis({
        ...SHARED,
        sentinels: sentinels.map(parseHostPort),
        name,
        db,
        ...loginOptions(login),
        ...(login.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
        // Where the client itself goes on connecting, it goes on asking.
        sentinelRetryStrategy: options.retryStrategy ? pauseBefore : () => null,
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
        ...options,
      }),
  };
}

/** One node of a Cluster, by its `host:port`. */
export function placeOfNode(address: string, login: RedisLogin): RedisServerPlace {
  return {
    name: address,
    open: (options) =>
      new Redis({ ...SHARED, ...parseHostPort(address), ...loginOptions(login), ...options }),
  };
}

/** The database; channels are common to all of them, so their names carry it. */
export function databaseOf(target: RedisTarget): number {
  if (target.kind === 'cluster') return 0;
  if (target.kind === 'sentinel') return target.db;
  return Number(new URL(target.url).pathname.slice(1));
}

/** Splits `host:port`; an IPv6 address is in brackets. */
export function parseHostPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(address.slice(colon + 1)) };
}

function loginOptions({ user, password, tls }: RedisLogin): LoginOptions {
  return {
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    ...(tls && { tls: {} }),
  };
}
