// A process that trusts its memory is registered in Redis, so that whoever purges knows whom to
// wait for. The registration runs out by itself; here it is believed to run out earlier than there.
import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { HEAD_KEY, NAME_LIFE, READERS_KEY } from '../hub.ts';

/** How long a process that died without a word keeps purges waiting. */
const REGISTRATION_MS = 2_000;
const RENEW_EVERY_MS = 500;

/**
 * Answers which life of the store this is: another one has forgotten everything. By the clock of
 * Redis, which all processes share. The removal goes first, and not only to tidy up: a script that
 * has written already may go on when the memory is full.
 */
const REGISTER = `
  ${NAME_LIFE}
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  local life = nameLife(ARGV[3])
  redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  return life
`;

export interface ReaderRegistration {
  readonly isValidAt: (nowMs: number) => boolean;
  /**
   * Whether it is in the store of this name. Where it is not, that has forgotten it, or has done so
   * since: it is over, and the next `keep` makes a new one.
   */
  readonly isIn: (life: string | null) => boolean;
  /** Renews when it is time to, in the background. */
  readonly keep: () => void;
  readonly end: () => Promise<void>;
}

/**
 * Makes the registration of this process; it begins with the first `keep`.
 *
 * @param onOtherLife told when Redis has lost what it had
 */
export function createReaderRegistration(
  connection: RedisConnection,
  reader: string,
  monotonicNow: () => number,
  onOtherLife: () => void,
): ReaderRegistration {
  let validUntil = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let life: unknown = null;

  async function register(): Promise<void> {
    const sentAt = monotonicNow();
    askedAt = sentAt;
    const done = await connection.run(READERS_KEY, (redis) =>
      redis.eval(REGISTER, 2, HEAD_KEY, READERS_KEY, reader, REGISTRATION_MS, randomUUID()),
    );
    // Not answered is not renewed: it runs out.
    if (done.state === 'unavailable') return;
    if (life !== null && done.value !== life) onOtherLife();
    life = done.value;
    validUntil = sentAt + REGISTRATION_MS;
  }

  return {
    isValidAt: (nowMs) => nowMs < validUntil,
    isIn: (asked) => {
      if (asked === life) return true;
      validUntil = Number.NEGATIVE_INFINITY;
      askedAt = Number.NEGATIVE_INFINITY;
      return false;
    },
    keep: () => {
      if (monotonicNow() - askedAt >= RENEW_EVERY_MS) void register();
    },
    end: async () => {
      validUntil = Number.NEGATIVE_INFINITY;
      await connection.run(READERS_KEY, (redis) => redis.zrem(READERS_KEY, reader));
    },
  };
}
