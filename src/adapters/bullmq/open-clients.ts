// The Redis clients that BullMQ works with. Adding fails at once when Redis is gone; the worker's
// clients wait and reconnect by themselves, as BullMQ asks for.
import { Cluster, Redis } from 'ioredis';
import {
  CONNECT_TIMEOUT_MS,
  loginOptions,
  pauseBefore,
  type RedisTarget,
  splitAddress,
} from '../../core/redis-target.ts';

export type QueueClient = Redis | Cluster;

/** For adding and counting. Connects in the background. */
export function openEagerClient(target: RedisTarget, timeoutMs: number): QueueClient {
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
export function openPatientClient(target: RedisTarget): PatientClient {
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

function openClient(target: RedisTarget, manner: Manner): QueueClient {
  const shared = { ...manner, connectTimeout: CONNECT_TIMEOUT_MS };
  switch (target.kind) {
    case 'single':
      return new Redis(target.url, { ...shared, retryStrategy: pauseBefore });
    case 'sentinel': {
      const { login } = target;
      return new Redis({
        ...shared,
        ...loginOptions(login),
        ...(login.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
        sentinels: target.sentinels.map(splitAddress),
        name: target.name,
        db: target.db,
        retryStrategy: pauseBefore,
        sentinelRetryStrategy: pauseBefore,
        sentinelReconnectStrategy: pauseBefore,
        // A master that is replaced while it still answers is left at once.
        failoverDetector: true,
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
      });
    }
    case 'cluster': {
      const { enableOfflineQueue, ...others } = shared;
      return new Cluster(target.nodes.map(splitAddress), {
        enableOfflineQueue,
        clusterRetryStrategy: pauseBefore,
        redisOptions: { ...others, ...loginOptions(target.login) },
      });
    }
  }
}
