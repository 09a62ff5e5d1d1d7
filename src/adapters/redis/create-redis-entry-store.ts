// The EntryStore port on Redis: one JSON string a key, set together with its expiry. An error is
// `unavailable`, never a miss, and no call waits longer than the store timeout. Every change is
// told to all processes; what was read before it, or while nothing could be heard, is not current.
import { decodeEntry, ENTRY_CHARS_MAX, encodeEntry } from '../../core/key/entry-codec.ts';
import type { CacheKey, Clock, Done, Entry, EntryStore, FoundEntry } from '../../pipeline/ports.ts';
import type { Announcer } from './announce.ts';
import type { ChangedKeys } from './channel/changed-keys.ts';
import type { Channel } from './channel/channel.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createNotedDimensions } from './noted-dimensions.ts';
import { scanEntries, scanKeys } from './scan-entries.ts';

export interface RedisEntryStoreOptions {
  readonly connection: RedisConnection;
  readonly channel: Channel;
  readonly changes: ChangedKeys;
  readonly announcer: Announcer;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}

/** No more of a value is fetched, so that an enormous one is no outage; 2 bytes a character. */
const ENTRY_BYTES_MAX = 2 * ENTRY_CHARS_MAX;

/** Nothing is ever there; a user who may read entries may read it. */
const CHECK_KEY = 'cache:check';

/** Compares and sets in one step. */
const REPLACE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
  return 1
`;

/** Makes the entry store over a connection that others use too. */
export function createRedisEntryStore(options: RedisEntryStoreOptions): EntryStore {
  const { connection, channel, changes, announcer, clock } = options;
  const dimensions = createNotedDimensions(connection, clock);

  async function get(key: CacheKey): Promise<FoundEntry> {
    const stamp = changes.stamp();
    const stored = await connection.run(key, (redis) => redis.getrange(key, 0, ENTRY_BYTES_MAX));
    if (stored.state === 'unavailable') {
      return stored.reason === 'wrongtype' ? dropDamaged(key, 'wrong_type') : stored;
    }
    if (stored.value === '') return { state: 'absent' };
    const decoded = decodeEntry(stored.value, key, clock.now());
    if (decoded.state === 'entry') return { state: 'found', value: decoded.entry, stamp };
    if (decoded.state === 'invalid') return dropDamaged(key, decoded.reason);
    // An expired one goes by its own PXAT.
    return { state: 'absent' };
  }

  async function dropDamaged(key: CacheKey, reason: string): Promise<FoundEntry> {
    const dropped = await announcer.change(key, (redis) => redis.unlink(key));
    return dropped.state === 'unavailable' ? dropped : { state: 'damaged', reason };
  }

  async function put(key: CacheKey, entry: Entry): Promise<Done<void>> {
    const [noted, done] = await Promise.all([
      dimensions.note(key),
      announcer.change(key, (redis) => redis.set(key, encodeEntry(entry), 'PXAT', entry.deleteAt)),
    ]);
    return done.state === 'unavailable' ? done : noted;
  }

  async function replace(key: CacheKey, previous: Entry, next: Entry): Promise<Done<boolean>> {
    const [before, after] = [encodeEntry(previous), encodeEntry(next)];
    const done = await announcer.change(key, (redis) =>
      redis.eval(REPLACE, 1, key, before, after, next.deleteAt),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
  }

  async function remove(key: CacheKey): Promise<Done<boolean>> {
    const done = await announcer.change(key, (redis) => redis.unlink(key));
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value > 0 };
  }

  return {
    name: 'redis',
    get,
    isCurrent: (key, stamp) => channel.isTrusted() && changes.isUnchanged(key, stamp),
    put,
    replace,
    delete: remove,
    keys: (filter) => scanKeys(connection, filter),
    entries: (filter) => scanEntries(connection, filter, clock, ENTRY_BYTES_MAX),
    dimensions: dimensions.list,
    check: () => checkConnection(connection),
    close: options.close,
  };
}

/** Done only when Redis answers. */
export async function checkConnection(connection: RedisConnection): Promise<Done<void>> {
  const done = await connection.run(CHECK_KEY, (redis) => redis.get(CHECK_KEY));
  return done.state === 'unavailable' ? done : { state: 'done', value: undefined };
}
