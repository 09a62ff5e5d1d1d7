// Who claims the bodies of a page: a key beside them, in the slot of their entry, which ends by
// itself.
import { randomUUID } from 'node:crypto';
import { parseCacheKey } from '../../core/key/cache-key.ts';
import { type CacheKey, CLAIM_MS, type EntryStore } from '../../pipeline/ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { bodyKey } from './redis-bodies.ts';

/** ARGV: claim, milliseconds. A command may be run twice: the second time it is ours already. */
const TAKE = `
  if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** As above, and only while it lasts: who had it in between has taken bodies away. */
const RENEW = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

const RELEASE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('UNLINK', KEYS[1])
`;

/** KEYS: entry, claim. ARGV: claim, text, time. Stores, and ends the claim, while it lasts. */
export const PUT_CLAIMED = `
  if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
  redis.call('UNLINK', KEYS[2])
  return 1
`;

/** Where the claim of a page is kept. */
export function claimKey(key: CacheKey): string {
  const ref = parseCacheKey(key);
  if (ref === null) throw new RangeError(`not a page: ${key}`);
  return `${bodyKey(ref)}:claim`;
}

/** Makes the claims over a connection that others use too. */
export function createRedisClaims(
  connection: RedisConnection,
): Pick<EntryStore, 'claim' | 'release'> {
  return {
    claim: async (key, mine) => {
      const claim = mine ?? randomUUID();
      const script = mine === undefined ? TAKE : RENEW;
      const row = claimKey(key);
      const done = await connection.run(row, (redis) =>
        redis.eval(script, 1, row, claim, CLAIM_MS),
      );
      if (done.state === 'unavailable') return done;
      return { state: 'done', value: done.value === 1 ? claim : null };
    },
    release: async (key, claim) => {
      const row = claimKey(key);
      const done = await connection.run(row, (redis) => redis.eval(RELEASE, 1, row, claim));
      return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
    },
  };
}
