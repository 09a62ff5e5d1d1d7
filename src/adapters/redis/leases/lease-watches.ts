// The followers' side: one watch a lease, however many follow. The holder's word comes by message;
// should it not come, Redis is asked when the lease would have run out unrenewed, and not before.
// So a dead holder and a lost message end in the same way, and nothing polls.
import type { LeaseResult } from '../../../pipeline/ports.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { LEASE_MS, leaseKey, WATCH } from './lease-scripts.ts';

export interface LeaseWatches {
  /** Resolves when the lease ends; at once when it has meanwhile. */
  readonly follow: (key: string, token: string, leftMs: number) => Promise<LeaseResult>;
  /** Words may have been missed: asks about every lease that is followed. */
  readonly checkAll: () => void;
  /** The holder's word. */
  readonly noteEnded: (token: string, result: LeaseResult) => void;
  readonly close: () => void;
}

interface Watch {
  readonly result: Promise<LeaseResult>;
  readonly key: string;
  readonly resolve: (result: LeaseResult) => void;
  timer: NodeJS.Timeout;
}

/** How long after its end a lease is asked about. */
const GRACE_MS = 50;
/** Leases whose end is remembered, for those who are just about to follow. */
const ENDED_MAX = 1_000;

const LOST: LeaseResult = { outcome: 'lost', reason: null };

/** Makes the watches of one process. */
export function createLeaseWatches(connection: RedisConnection): LeaseWatches {
  const watches = new Map<string, Watch>();
  const ended = new Map<string, LeaseResult>();

  function end(token: string, result: LeaseResult): void {
    const watch = watches.get(token);
    if (watch === undefined) return;
    watches.delete(token);
    clearTimeout(watch.timer);
    watch.resolve(result);
  }

  function askIn(leftMs: number, key: string, token: string): NodeJS.Timeout {
    return setTimeout(() => void ask(key, token), leftMs + GRACE_MS).unref();
  }

  async function ask(key: string, token: string): Promise<void> {
    const name = leaseKey(key);
    const left = await connection.run(name, (redis) => redis.eval(WATCH, 1, name, token));
    const watch = watches.get(token);
    if (watch === undefined) return;
    const leftMs = left.state === 'done' ? readLeftMs(left.value) : 0;
    clearTimeout(watch.timer);
    if (leftMs > 0) watch.timer = askIn(leftMs, key, token);
    else end(token, LOST);
  }

  return {
    follow: async (key, token, leftMs) => {
      const known = ended.get(token);
      if (known !== undefined) return known;
      const watch = watches.get(token) ?? openWatch(key, askIn(readLeftMs(leftMs), key, token));
      watches.set(token, watch);
      return await watch.result;
    },
    checkAll: () => {
      for (const [token, { key }] of watches) void ask(key, token);
    },
    noteEnded: (token, result) => {
      const [oldest] = ended.keys();
      if (ended.size >= ENDED_MAX && oldest !== undefined) ended.delete(oldest);
      ended.set(token, result);
      end(token, result);
    },
    close: () => {
      for (const token of [...watches.keys()]) end(token, LOST);
    },
  };
}

function openWatch(key: string, timer: NodeJS.Timeout): Watch {
  let resolve: (result: LeaseResult) => void = () => undefined;
  const result = new Promise<LeaseResult>((settle) => {
    resolve = settle;
  });
  return { key, result, resolve, timer };
}

/** However long somebody has made it, a lease is asked about after its own time. */
function readLeftMs(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? Math.min(value, LEASE_MS) : LEASE_MS;
}
