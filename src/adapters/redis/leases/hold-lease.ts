// The holder's side of a lease. It is held as long as a renewal that was answered covers, counted
// from the sending: a holder that was paused, or cut off from Redis, knows that it may be lost.
import type { Lease, LeaseResult } from '../../../pipeline/ports.ts';
import { encodeMessage } from '../channel/messages.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { LEASE_MS, leaseKey, RELEASE, RENEW, RENEW_EVERY_MS } from './lease-scripts.ts';

export interface HoldOptions {
  readonly connection: RedisConnection;
  readonly channelName: string;
  readonly monotonicNow: () => number;
  readonly key: string;
  readonly token: string;
  /** By the monotonic clock: when the lease was asked for. */
  readonly since: number;
  /** Told when its own word has ended the lease. */
  readonly onReleased: (token: string, result: LeaseResult) => void;
}

export interface HeldLease extends Lease {
  /** Lets it run out: nobody is told. */
  readonly abandon: () => void;
}

/** Renews a lease that was just got, until it is released, lost or abandoned. */
export function holdLease(options: HoldOptions): HeldLease {
  const { connection, channelName, monotonicNow, token } = options;
  const key = leaseKey(options.key);
  let heldUntil = options.since + LEASE_MS;
  let isOver = false;
  const timer = setInterval(() => void renew(), RENEW_EVERY_MS).unref();

  function end(): void {
    isOver = true;
    clearInterval(timer);
  }

  async function renew(): Promise<void> {
    const sentAt = monotonicNow();
    const done = await connection.run(key, (redis) => redis.eval(RENEW, 1, key, token, LEASE_MS));
    // Redis may answer again before the time is up.
    if (done.state === 'unavailable') return;
    if (done.value === 1) heldUntil = sentAt + LEASE_MS;
    else end();
  }

  async function release(result: LeaseResult): Promise<void> {
    if (isOver) return;
    end();
    const message = encodeMessage({ kind: 'ended', token, result });
    const done = await connection.run(key, (redis) =>
      redis.eval(RELEASE, 1, key, token, channelName, message),
    );
    if (done.state === 'done' && done.value === 1) options.onReleased(token, result);
  }

  return {
    isHeld: () => !isOver && monotonicNow() < heldUntil,
    release,
    abandon: end,
  };
}
