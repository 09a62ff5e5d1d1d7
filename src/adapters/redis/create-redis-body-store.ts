// The BodyStore port on Redis: one hash a page, a field a coding, in the slot of its entry. All
// codings are replaced in one step; they outlive their metadata by a little. What is read is of the
// length that was asked for, or not sent at all, and its hash is compared. Where the metadata is
// only just asked for too, both are: a page takes one round trip.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import type {
  BodyDigest,
  BodyReading,
  BodyRef,
  BodySet,
  BodyStore,
  ContentCoding,
  Done,
  Found,
  Hasher,
} from '../../pipeline/ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { checkConnection } from './create-redis-entry-store.ts';

export interface RedisBodyStoreOptions {
  /** Not that of the metadata, which would wait behind the bodies. */
  readonly connection: RedisConnection;
  readonly hasher: Hasher;
  /** Largest body: what is larger was never a page. */
  readonly bytesMax: number;
}

/** What was read before anybody said which version is meant. */
interface Came {
  readonly coding: string;
  readonly bytes: Buffer;
}

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

/** ARGV: largest length, then codings. Answers the first that is kept and not too large: name, bytes. */
const READ_FIRST = `
  for i = 2, #ARGV do
    if redis.call('HEXISTS', KEYS[1], ARGV[i]) == 1 then
      if redis.call('HSTRLEN', KEYS[1], ARGV[i]) > tonumber(ARGV[1]) then return nil end
      return {ARGV[i], redis.call('HGET', KEYS[1], ARGV[i])}
    end
  end
  return nil
`;

/** Makes the body store; its connection is closed by whoever opened it. */
export function createRedisBodyStore(options: RedisBodyStoreOptions): BodyStore {
  const { connection, hasher, bytesMax } = options;
  const ahead = new Map<string, Promise<Came | null>>();

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
    digest: BodyDigest,
  ): Promise<Found<Buffer>> {
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

  /** Whoever asks for the same while it is on its way gets it too. */
  function readAhead(ref: BodyRef, codings: readonly ContentCoding[]): BodyReading {
    const key = bodyKey(ref);
    const name = `${key} ${codings.join(' ')}`;
    const coming = ahead.get(name) ?? readFirst(key, codings).finally(() => ahead.delete(name));
    ahead.set(name, coming);
    return async (coding, digest) => {
      const came = await coming;
      const isIt =
        came?.coding === coding &&
        came.bytes.length === digest.bytes &&
        hasher.bytes(came.bytes) === digest.hash;
      // Another version, or none: whoever asks for it alone says what is wrong.
      return isIt ? { state: 'found', value: came.bytes } : await read(ref, coding, digest);
    };
  }

  async function readFirst(key: string, codings: readonly ContentCoding[]): Promise<Came | null> {
    const done = await connection.run(key, (redis) =>
      redis.callBuffer('EVAL', READ_FIRST, 1, key, bytesMax, ...codings),
    );
    if (done.state === 'unavailable' || !Array.isArray(done.value)) return null;
    const [coding, bytes] = done.value;
    return Buffer.isBuffer(bytes) ? { coding: String(coding), bytes } : null;
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
    const done = await connection.run(key, (redis) => redis.unlink(key));
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value > 0 };
  }

  return {
    name: 'redis',
    write,
    // Bodies are kept by page here, not by their bytes.
    findCodings: async () => ({}),
    keepUntil,
    read,
    readAhead,
    delete: remove,
    check: () => checkConnection(connection),
    close: async () => undefined,
  };
}

/** The tag keeps it in the slot of the entry. */
function bodyKey({ hostId, dimensionId, hash }: BodyRef): string {
  return `body:{${formatCacheKey(hostId, dimensionId, hash)}}`;
}
