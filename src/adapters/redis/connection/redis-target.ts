// How a connection to a Redis is opened, wherever it is. No name and no message made here holds
// user or password.
import { Redis, type RedisOptions } from 'ioredis';
import {
  CONNECT_TIMEOUT_MS,
  loginOptions,
  pauseBefore,
  type RedisLogin,
  type RedisTarget,
  splitAddress,
} from '../../../core/redis-target.ts';

/** What may differ between connections to one server. */
export type ClientOptions = Pick<RedisOptions, 'commandTimeout' | 'retryStrategy'>;

/** A server that can be connected to, again and again. */
export interface RedisServerPlace {
  /** For messages. */
  readonly name: string;
  /** Gives a client that has not connected yet. */
  readonly open: (options: ClientOptions) => Redis;
}

/** How long a connection that is given up may take to close in good order. */
const DISCONNECT_TIMEOUT_MS = 50;

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

/** The one server of a URL, or the master that the Sentinels name at the time of connecting. */
export function serverOf(target: Exclude<RedisTarget, { kind: 'cluster' }>): RedisServerPlace {
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
        sentinels: sentinels.map(splitAddress),
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
      new Redis({ ...SHARED, ...splitAddress(address), ...loginOptions(login), ...options }),
  };
}

/** The database; channels are common to all of them, so their names carry it. */
export function databaseOf(target: RedisTarget): number {
  if (target.kind === 'cluster') return 0;
  if (target.kind === 'sentinel') return target.db;
  return Number(new URL(target.url).pathname.slice(1));
}
