// The Leases port on Redis: a key with a random token that runs out unless it is renewed. Who finds
// a token there follows it. Redis trouble is `unavailable`: the caller then fetches for itself.
import { randomBytes } from 'node:crypto';
import type { LeaseResult, Leases, LeaseTurn } from '../../../pipeline/ports.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { type HeldLease, holdLease } from './hold-lease.ts';
import { ENTER, LEASE_MS, leaseKey } from './lease-scripts.ts';
import type { LeaseWatches } from './lease-watches.ts';

export interface RedisLeasesOptions {
  readonly connection: RedisConnection;
  readonly watches: LeaseWatches;
  readonly channelName: string;
  readonly monotonicNow: () => number;
}

const LOST: LeaseResult = { outcome: 'lost', reason: null };

/** Makes the leases of one process. */
export function createRedisLeases(options: RedisLeasesOptions): Leases {
  const { connection, watches, channelName, monotonicNow } = options;
  const held = new Map<string, HeldLease>();
  let isClosed = false;

  async function enter(key: string): Promise<LeaseTurn> {
    if (isClosed) return { role: 'unavailable', reason: 'closed' };
    const token = randomBytes(16).toString('hex');
    const since = monotonicNow();
    const name = leaseKey(key);
    const done = await connection.run(name, (redis) => redis.eval(ENTER, 1, name, token, LEASE_MS));
    if (done.state === 'unavailable') {
      // It may have been granted all the same, and the answer is late.
      void lead(key, token, since).release(LOST);
      return { role: 'unavailable', reason: done.reason };
    }
    const [holder, leftMs]: unknown[] = Array.isArray(done.value) ? done.value : [];
    if (typeof holder !== 'string') return { role: 'unavailable', reason: 'damaged' };
    if (holder !== token) {
      return { role: 'follower', result: watches.follow(key, holder, Number(leftMs)) };
    }
    return { role: 'leader', lease: lead(key, token, since) };
  }

  function lead(key: string, token: string, since: number): HeldLease {
    const lease = holdLease({
      connection,
      channelName,
      monotonicNow,
      key,
      token,
      since,
      onReleased: watches.noteEnded,
    });
    held.set(token, lease);
    return {
      ...lease,
      release: async (result) => {
        held.delete(token);
        await lease.release(result);
      },
    };
  }

  return {
    enter,
    close: async () => {
      isClosed = true;
      watches.close();
      for (const lease of held.values()) lease.abandon();
    },
  };
}
