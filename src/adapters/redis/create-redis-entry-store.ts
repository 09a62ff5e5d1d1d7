// The EntryStore port on Redis: one JSON string a key, set together with its expiry. An error is
// `unavailable`, never a miss, and no call waits longer than the store timeout.
import { formatCacheKeyPrefix, parseCacheKey } from '../../core/key/cache-key.ts';
import { decodeEntry, ENTRY_CHARS_MAX, encodeEntry } from '../../core/key/entry-codec.ts';
import type {
  CacheKey,
  Clock,
  Done,
  Entry,
  EntryFilter,
  EntryStore,
  FoundEntry,
  StoredEntry,
} from '../../pipeline/ports.ts';
import {
  connectRedis,
  type RedisConnection,
  type RedisConnectionOptions,
} from './connect-redis.ts';
import { escapeGlob } from './escape-glob.ts';

export interface RedisStoreOptions extends RedisConnectionOptions {
  readonly clock: Clock;
}

/** How many slots of its table Redis looks at in one SCAN: a bound on how long it is busy. */
const SCAN_COUNT = 500;

/** No more of a value is fetched, so that an enormous one is no outage; 2 bytes a character. */
const ENTRY_BYTES_MAX = 2 * ENTRY_CHARS_MAX;

/** Compares and sets in one step. */
const REPLACE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
  return 1
`;

/** Connects the Redis entry store. Redis being down is no error: the gateway runs uncached. */
export async function createRedisEntryStore(options: RedisStoreOptions): Promise<EntryStore> {
  const { clock } = options;
  const connection = await connectRedis(options);

  async function get(key: CacheKey): Promise<FoundEntry> {
    const stored = await connection.run((redis) => redis.getrange(key, 0, ENTRY_BYTES_MAX));
    if (stored.state === 'unavailable') {
      return stored.reason === 'wrongtype' ? dropDamaged(key, 'wrong_type') : stored;
    }
    if (stored.value === '') return { state: 'absent' };
    const decoded = decodeEntry(stored.value, key, clock.now());
    if (decoded.state === 'entry') return { state: 'found', value: decoded.entry, stamp: 0 };
    if (decoded.state === 'invalid') return dropDamaged(key, decoded.reason);
    // An expired one goes by its own PXAT.
    return { state: 'absent' };
  }

  async function dropDamaged(key: CacheKey, reason: string): Promise<FoundEntry> {
    const dropped = await connection.run((redis) => redis.unlink(key));
    return dropped.state === 'unavailable' ? dropped : { state: 'damaged', reason };
  }

  async function put(key: CacheKey, entry: Entry): Promise<Done<void>> {
    const done = await connection.run((redis) =>
      redis.set(key, encodeEntry(entry), 'PXAT', entry.deleteAt),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
  }

  async function replace(key: CacheKey, previous: Entry, next: Entry): Promise<Done<boolean>> {
    const [before, after] = [encodeEntry(previous), encodeEntry(next)];
    const done = await connection.run((redis) =>
      redis.eval(REPLACE, 1, key, before, after, next.deleteAt),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
  }

  async function remove(key: CacheKey): Promise<Done<boolean>> {
    const done = await connection.run((redis) => redis.unlink(key));
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value > 0 };
  }

  async function check(): Promise<Done<void>> {
    const done = await connection.run((redis) => redis.get('check'));
    return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
  }

  return {
    name: 'redis',
    get,
    put,
    replace,
    delete: remove,
    isCurrent: () => false,
    keys: (filter) => scanKeys(connection, filter),
    entries: (filter) => scanEntries(connection, filter, clock),
    check,
    close: connection.close,
  };
}

async function* scanKeys(
  connection: RedisConnection,
  filter: EntryFilter,
): AsyncGenerator<Done<readonly CacheKey[]>> {
  const { hostId, dimensionId } = filter;
  const prefix = hostId === undefined ? 'cache:' : formatCacheKeyPrefix(hostId, dimensionId);
  const pattern = `${escapeGlob(prefix)}*`;
  let cursor = '0';
  do {
    const from = cursor;
    const page = await connection.run((redis) =>
      redis.scan(from, 'MATCH', pattern, 'COUNT', SCAN_COUNT),
    );
    if (page.state === 'unavailable') {
      yield page;
      return;
    }
    cursor = page.value[0];
    const keys = page.value[1].filter((key) => parseCacheKey(key) !== null);
    if (keys.length > 0) yield { state: 'done', value: keys };
  } while (cursor !== '0');
}

async function* scanEntries(
  connection: RedisConnection,
  filter: EntryFilter,
  clock: Clock,
): AsyncGenerator<Done<readonly StoredEntry[]>> {
  for await (const page of scanKeys(connection, filter)) {
    if (page.state === 'unavailable') {
      yield page;
      return;
    }
    const texts = await connection.run((redis) =>
      Promise.all(page.value.map((key) => redis.getrange(key, 0, ENTRY_BYTES_MAX))),
    );
    if (texts.state === 'unavailable') {
      yield texts;
      return;
    }
    const value = page.value.flatMap((key, index) => {
      const decoded = decodeEntry(texts.value[index] ?? '', key, clock.now());
      return decoded.state === 'entry' ? [{ key, entry: decoded.entry }] : [];
    });
    yield { state: 'done', value };
  }
}
