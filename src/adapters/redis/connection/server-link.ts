// A connection to one server that never makes a caller wait: no queue while it is down, no retries,
// every command bounded. The connection is its own circuit breaker: after a few timeouts in a row
// it is given up, so that commands fail at once, and the handshake of the next one, made in the
// background with growing pauses, is the probe that closes the breaker again.
import type { Redis } from 'ioredis';
import {
  describeRedisError,
  RedisLostError,
  RedisTimeoutError,
} from '../../../core/redis-error.ts';
import { CONNECT_TIMEOUT_MS, pauseBefore } from '../../../core/redis-target.ts';
import type { ConnectionReporter } from './outage-reporter.ts';
import { type RedisServerPlace } from './redis-target.ts';

export type Command<T> = (redis: Redis) => Promise<T>;

export interface ServerLink {
  readonly name: string;
  /** Runs commands; throws what the server complains about, or that it can't be asked. */
  readonly attempt: <T>(command: Command<T>, timeoutMs: number) => Promise<T>;
  /** Since when this connection works, by the monotonic clock; null: it does not. */
  readonly readySince: () => number | null;
  /** Gives the connection up for a new one. */
  readonly renew: () => void;
  /** Resolves when it works, or the time is up. */
  readonly settle: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

export interface ServerLinkOptions {
  readonly reporter: ConnectionReporter;
  readonly monotonicNow: () => number;
  /** How long a caller waits at most. */
  readonly timeoutMs: number;
}

const TIMEOUTS_IN_A_ROW_MAX = 3;

/** Begins to connect, and goes on in the background. */
export function openServerLink(place: RedisServerPlace, options: ServerLinkOptions): ServerLink {
  const { reporter, monotonicNow, timeoutMs: patienceMs } = options;
  const redis = place.open({
    // Bounds the handshake; callers have their own, shorter time.
    commandTimeout: Math.max(CONNECT_TIMEOUT_MS, patienceMs),
    retryStrategy: pauseBefore,
  });
  let readySince: number | null = null;
  let isClosed = false;
  const breaker = createBreaker(redis);
  redis.on('ready', () => {
    readySince = monotonicNow();
    reporter.up();
  });
  const goDown = (reason: string): void => {
    readySince = null;
    if (!isClosed) reporter.down(reason);
  };
  redis.on('error', (error: unknown) => goDown(describeRedisError(error)));
  redis.on('close', () => goDown('disconnected'));
  // A failure is reported by the 'error' event and does not stop the reconnecting.
  redis.connect().catch(() => undefined);

  async function attempt<T>(command: Command<T>, timeoutMs: number): Promise<T> {
    if (isClosed || redis.status !== 'ready' || breaker.isOpen()) throw new RedisLostError();
    try {
      const value = await answerWithin(timeoutMs, command(redis));
      breaker.answered();
      return value;
    } catch (error) {
      if (error instanceof RedisTimeoutError) breaker.timedOut();
      else breaker.answered();
      throw error;
    }
  }

  return {
    name: place.name,
    attempt,
    readySince: () => (isClosed || breaker.isOpen() ? null : readySince),
    renew: () => {
      if (!isClosed) redis.disconnect(true);
    },
    settle: (timeoutMs) => settleWithin(redis, timeoutMs),
    close: () => {
      isClosed = true;
      redis.disconnect();
    },
  };
}

/** Waits for the outcome of the first attempt to connect, but not for long. */
async function settleWithin(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, timeoutMs);
    const events = ['ready', 'error', 'close'] as const;
    function done(): void {
      clearTimeout(timer);
      for (const event of events) redis.off(event, done);
      resolve();
    }
    for (const event of events) redis.once(event, done);
  });
}

/**
 * Waits for an answer, but not for long. When the time is up, one more look at the sockets is
 * taken: after a stall of our own the answer is already there.
 */
async function answerWithin<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(new RedisTimeoutError())), timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

interface Breaker {
  readonly isOpen: () => boolean;
  readonly answered: () => void;
  readonly timedOut: () => void;
}

/** Gives the connection up when several commands in a row got no answer in time. */
function createBreaker(redis: Redis): Breaker {
  let timeoutsInARow = 0;
  redis.on('ready', () => {
    timeoutsInARow = 0;
  });
  return {
    isOpen: () => timeoutsInARow >= TIMEOUTS_IN_A_ROW_MAX,
    answered: () => {
      if (timeoutsInARow < TIMEOUTS_IN_A_ROW_MAX) timeoutsInARow = 0;
    },
    timedOut: () => {
      timeoutsInARow += 1;
      if (timeoutsInARow === TIMEOUTS_IN_A_ROW_MAX) redis.disconnect(true);
    },
  };
}
