// A Redis connection that never makes a caller wait: no queue while it is down, no retries, every
// command bounded. The connection is its own circuit breaker: after a few timeouts in a row it is
// given up, so that commands fail at once, and the handshake of the next one, made in the
// background with growing pauses, is the probe that closes the breaker again.
import { Redis } from 'ioredis';
import { LIMITS } from '../../core/limits.ts';
import { describeRedisError, RedisTimeoutError } from './describe-redis-error.ts';

export type RedisWarning =
  /** Redis can't be asked from now on; said once until it works again. */
  | { readonly kind: 'redis_unavailable'; readonly server: string; readonly reason: string }
  | { readonly kind: 'redis_recovered'; readonly server: string };

export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`, user and password inside. */
  readonly url: string;
  readonly onWarning: (warning: RedisWarning) => void;
  /** How long a caller waits at most; the store timeout unless given. */
  readonly timeoutMs?: number;
}

type Answer<T> =
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'unavailable'; readonly reason: string };

export interface RedisConnection {
  /** Runs one command; what fails comes back as a value. */
  readonly run: <T>(command: (redis: Redis) => Promise<T>) => Promise<Answer<T>>;
  readonly close: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 1_000;
/** How long a connection that is given up may take to close in good order. */
const DISCONNECT_TIMEOUT_MS = 50;
const TIMEOUTS_IN_A_ROW_MAX = 3;
const RECONNECT_PAUSE_MIN_MS = 50;
const RECONNECT_PAUSE_MAX_MS = 1_000;

/** Connects; answers after the first attempt, also when it failed: it goes on in the background. */
export async function connectRedis({
  url,
  onWarning,
  timeoutMs = LIMITS.storeTimeoutMs,
}: RedisConnectionOptions): Promise<RedisConnection> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // Bounds the handshake; callers have their own, shorter time.
    commandTimeout: Math.max(CONNECT_TIMEOUT_MS, timeoutMs),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempts) =>
      Math.min(RECONNECT_PAUSE_MIN_MS * 2 ** Math.min(attempts, 10), RECONNECT_PAUSE_MAX_MS),
  });
  let isClosed = false;
  reportOutages(redis, new URL(url).host, (warning) => {
    if (!isClosed) onWarning(warning);
  });
  const breaker = createBreaker(redis);
  // A failure is reported by the 'error' event and does not stop the reconnecting.
  await redis.connect().catch(() => undefined);

  return {
    run: async (command) => {
      if (isClosed || redis.status !== 'ready' || breaker.isOpen()) {
        return { state: 'unavailable', reason: 'disconnected' };
      }
      try {
        const value = await answerWithin(timeoutMs, command(redis));
        breaker.answered();
        return { state: 'done', value };
      } catch (error) {
        if (error instanceof RedisTimeoutError) breaker.timedOut();
        else breaker.answered();
        return { state: 'unavailable', reason: describeRedisError(error) };
      }
    },
    close: async () => {
      isClosed = true;
      redis.disconnect();
    },
  };
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

function reportOutages(
  redis: Redis,
  server: string,
  onWarning: (warning: RedisWarning) => void,
): void {
  let isDown = false;
  const goDown = (reason: string): void => {
    if (!isDown) onWarning({ kind: 'redis_unavailable', server, reason });
    isDown = true;
  };
  redis.on('error', (error: unknown) => goDown(describeRedisError(error)));
  redis.on('close', () => goDown('disconnected'));
  redis.on('ready', () => {
    if (isDown) onWarning({ kind: 'redis_recovered', server });
    isDown = false;
  });
}
