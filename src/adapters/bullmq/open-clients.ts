// The Redis clients that BullMQ works with. Adding fails at once when Redis is gone; the worker's
// clients wait and reconnect by themselves, as BullMQ asks for.
import { Cluster, Redis } from 'ioredis';

export interface QueueLogin {
  readonly user: string | null;
  readonly password: string | null;
  readonly tls: boolean;
}

/** Where Redis is. */
export type QueueTarget =
  | { readonly kind: 'single'; readonly url: string }
  | {
      readonly kind: 'sentinel';
      /** `host:port` of each. */
      readonly sentinels: readonly string[];
      readonly name: string;
      readonly login: QueueLogin;
      readonly db: number;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly string[]; readonly login: QueueLogin };

export type QueueClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_PAUSE_MIN_MS = 50;
const RECONNECT_PAUSE_MAX_MS = 1_000;

function pauseMs(attempts: number): number {
  return Math.min(RECONNECT_PAUSE_MIN_MS * 2 ** Math.min(attempts, 10), RECONNECT_PAUSE_MAX_MS);
}

/** For adding and counting. Connects in the background. */
export function openEagerClient(target: QueueTarget, timeoutMs: number): QueueClient {
  return openClient(target, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: timeoutMs,
  });
}

export interface PatientClient {
  readonly client: QueueClient;
  /** Ends this connection and those that BullMQ has made after it. */
  readonly disconnectAll: () => void;
}

/** For taking jobs and for what happens to them; BullMQ copies it for its blocking commands. */
export function openPatientClient(target: QueueTarget): PatientClient {
  const client = openClient(target, { enableOfflineQueue: true, maxRetriesPerRequest: null });
  const all = [client];
  // BullMQ ends its copies only after Redis has answered them once.
  const duplicate: unknown = Reflect.get(client, 'duplicate');
  Object.assign(client, {
    duplicate: (...args: readonly unknown[]): QueueClient => {
      if (typeof duplicate !== 'function') throw new TypeError('a client that can not be copied');
      const copy: QueueClient = Reflect.apply(duplicate, client, args);
      all.push(copy);
      return copy;
    },
  });
  return {
    client,
    disconnectAll: () => {
      for (const one of all) one.disconnect();
    },
  };
}

interface Manner {
  readonly enableOfflineQueue: boolean;
  readonly maxRetriesPerRequest: number | null;
  readonly autoResendUnfulfilledCommands?: boolean;
  readonly commandTimeout?: number;
}

function openClient(target: QueueTarget, manner: Manner): QueueClient {
  const shared = { ...manner, connectTimeout: CONNECT_TIMEOUT_MS };
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, { ...shared, retryStrategy: pauseMs });
    case 'sentinel': {
      const { login } = target;
      return new Redis({
        ...shared,
        ...loginOptions(login),
        ...(login.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
        sentinels: target.sentinels.map(parseAddress),
        name: target.name,
        db: target.db,
        retryStrategy: pauseMs,
        sentinelRetryStrategy: pauseMs,
        sentinelReconnectStrategy: pauseMs,
        // A master that is replaced while it still answers is left at once.
        failoverDetector: true,
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
      });
    }
    case 'cluster': {
      const { enableOfflineQueue, ...others } = shared;
      return new Cluster(target.nodes.map(parseAddress), {
        enableOfflineQueue,
        clusterRetryStrategy: pauseMs,
        redisOptions: { ...others, ...loginOptions(target.login) },
      });
    }
  }
}

interface LoginOptions {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: Record<string, never>;
}

function loginOptions({ user, password, tls }: QueueLogin): LoginOptions {
  return {
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
}

/** `10.0.0.1:6379`, `[::1]:6379` */
function parseAddress(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':');
  return {
    host: text.slice(0, colon).replace(/^\[|\]$/g, ''),
    port: Number(text.slice(colon + 1)),
  };
}
