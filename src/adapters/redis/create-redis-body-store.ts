// The BodyStore port on Redis: one hash a page, a field a coding, in the slot of its entry. All
// codings are replaced in one step; they outlive their metadata by a little. What is read is of the
// length that was asked for, or not sent at all, and its hash is compared.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import type {
  BodyDigests,
  BodyRef,
  BodySet,
  BodyStore,
  ContentCoding,
  Done,
  Found,
} from '../../pipeline/ports.ts';
import { checkConnection } from './create-redis-entry-store.ts';
import { createReadAhead } from './read-body-ahead.ts';
import { bodyKey, type RedisBodyStoreOptions } from './redis-bodies.ts';
import { claimKey } from './redis-claims.ts';

/** So much longer than their metadata do bodies stay. */
const MARGIN_MS = 60_000;

/**
 * ARGV: time, then name and bytes of each coding there is. The new ones come first: when the memory
 * is full that fails, and the old ones stay.
 */
const WRITE = `
  local kept = {}
  for i = 2, #ARGV, 2 do
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    kept[ARGV[i]] = true
  end
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if not kept[field] then redis.call('HDEL', KEYS[1], field) end
  end
  redis.call('PEXPIREAT', KEYS[1], ARGV[1])
  return 1
`;

/** ARGV: coding, length. Answers the bytes, or how many others there are. */
const READ = `
  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end
  local length = redis.call('HSTRLEN', KEYS[1], ARGV[1])
  if length ~= tonumber(ARGV[2]) then return length end
  return redis.call('HGET', KEYS[1], ARGV[1])
`;

/** KEYS: bodies, entry, claim. What has an entry, or is about to have one, stays. */
const REMOVE = `
  if redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then return 0 end
  return redis.call('UNLINK', KEYS[1])
`;

/** Makes the body store; its connection is closed by whoever opened it. */
export function createRedisBodyStore(options: RedisBodyStoreOptions): BodyStore {
  const { connection, hasher, bytesMax } = options;

  async function write(ref: BodyRef, bodies: BodySet, until: number): Promise<Done<void>> {
    if (bodies.identity.length > bytesMax) return { state: 'unavailable', reason: 'too_large' };
    const key = bodyKey(ref);
    const fields = Object.entries(bodies).flatMap(([coding, bytes]) =>
      bytes === undefined ? [] : [coding, bytes],
    );
    const done = await connection.run(key, (redis) =>
      redis.eval(WRITE, 1, key, Math.ceil(until) + MARGIN_MS, ...fields),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
  }

  async function read(
    ref: BodyRef,
    coding: ContentCoding,
    { [coding]: digest }: BodyDigests,
  ): Promise<Found<Buffer>> {
    if (digest === undefined) return { state: 'absent' };
    if (digest.bytes > bytesMax) return { state: 'damaged', reason: 'too_large' };
    const key = bodyKey(ref);
    const done = await connection.run(key, (redis) =>
      redis.callBuffer('EVAL', READ, 1, key, coding, digest.bytes),
    );
    if (done.state === 'unavailable') {
      return done.reason === 'wrongtype' ? removeIntruder(key) : done;
    }
    if (done.value === null) return { state: 'absent' };
    if (!Buffer.isBuffer(done.value)) return { state: 'damaged', reason: 'wrong_length' };
    if (hasher.bytes(done.value) !== digest.hash) return { state: 'damaged', reason: 'wrong_hash' };
    return { state: 'found', value: done.value };
  }

  async function removeIntruder(key: string): Promise<Found<Buffer>> {
    const done = await connection.run(key, (redis) => redis.unlink(key));
    return done.state === 'unavailable' ? done : { state: 'damaged', reason: 'wrong_type' };
  }

  async function keepUntil(ref: BodyRef, until: number): Promise<Done<void>> {
    const key = bodyKey(ref);
    const done = await connection.run(key, (redis) =>
      redis.pexpireat(key, Math.ceil(until) + MARGIN_MS),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
  }

  async function remove(ref: BodyRef): Promise<Done<boolean>> {
    const key = bodyKey(ref);
    const page = formatCacheKey(ref);
    const done = await connection.run(key, (redis) =>
      redis.eval(REMOVE, 3, key, page, claimKey(page)),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
  }

  return {
    name: 'redis',
    write,
    // Bodies are kept by page here, not by their bytes.
    findCodings: async () => ({}),
    forget: async () => ({ state: 'done', value: undefined }),
    keepUntil,
    read,
    readAhead: createReadAhead(options, read),
    delete: remove,
    sparesEntries: true,
    check: () => checkConnection(connection),
    close: async () => undefined,
  };
}
