// The EntryStore port on Redis: one JSON string a key, set together with its expiry. An error is
// `unavailable`, never a miss, and no call waits longer than the store timeout. Every change is
// told to all processes; what was read before it, or while nothing could be heard, is not current.
import { type Decoded, decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import type {
  CacheKey,
  Claim,
  Clock,
  Done,
  Entry,
  EntryStore,
  FoundEntry,
} from '../../pipeline/ports.ts';
import type { Announcer } from './announce.ts';
import type { ChangedKeys } from './channel/changed-keys.ts';
import type { Channel } from './channel/channel.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import {
  ENTRY_BYTES_MAX,
  removeMeant,
  removeVersion,
  versionOf,
  WRONG_TYPE,
} from './entry-version.ts';
import { createNotedDimensions } from './noted-dimensions.ts';
import { claimKey, createRedisClaims, PUT_CLAIMED } from './redis-claims.ts';
import { scanEntries, scanKeys } from './scan-entries.ts';

export interface RedisEntryStoreOptions {
  readonly connection: RedisConnection;
  readonly channel: Channel;
  readonly changes: ChangedKeys;
  readonly announcer: Announcer;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}

/** Nothing is ever there; a user who may read entries may read it. */
const CHECK_KEY = 'cache:check';

const CLAIM_LOST: Done<void> = { state: 'unavailable', reason: 'claim_lost' };

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
      return stored.reason === 'wrongtype' ? dropDamaged(key, WRONG_TYPE) : stored;
    }
    const text = stored.value;
    if (text === '') return { state: 'absent' };
    const decoded = decodeEntry(text, key, clock.now());
    if (decoded.state === 'entry') return { state: 'found', value: decoded.entry, stamp, text };
    if (decoded.state === 'invalid') return dropDamaged(key, decoded.reason);
    // An expired one goes by its own PXAT.
    return { state: 'absent' };
  }

  async function dropDamaged(key: CacheKey, reason: string): Promise<FoundEntry> {
    const dropped =
      reason === WRONG_TYPE
        ? await removeVersion(key, WRONG_TYPE, announcer)
        : await removeMeant(key, (text) => stateOf(key, text) === 'invalid', options);
    return dropped.state === 'unavailable' ? dropped : { state: 'damaged', reason };
  }

  const stateOf = (key: CacheKey, text: string): Decoded['state'] =>
    decodeEntry(text, key, clock.now()).state;

  async function put(key: CacheKey, entry: Entry, claim?: Claim): Promise<Done<void>> {
    const text = encodeEntry(entry);
    const [noted, done] = await Promise.all([
      dimensions.note(key),
      announcer.change<unknown>(key, (redis) =>
        claim === undefined
          ? redis.set(key, text, 'PXAT', entry.deleteAt)
          : redis.eval(PUT_CLAIMED, 2, key, claimKey(key), claim, text, entry.deleteAt),
      ),
    ]);
    if (done.state === 'unavailable') return done;
    return done.value === 0 ? CLAIM_LOST : noted;
  }

  async function replace(key: CacheKey, previous: Entry, next: Entry): Promise<Done<boolean>> {
    const [before, after] = [encodeEntry(previous), encodeEntry(next)];
    const done = await announcer.change(key, (redis) =>
      redis.eval(REPLACE, 1, key, before, after, next.deleteAt),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
  }

  async function has(key: CacheKey): Promise<Done<boolean>> {
    const done = await connection.run(key, (redis) => redis.exists(key));
    return done.state === 'unavailable' ? done : { state: 'done', value: done.value > 0 };
  }

  return {
    name: 'redis',
    get,
    isCurrent: (key, stamp) => channel.isTrusted() && changes.isUnchanged(key, stamp),
    put,
    replace,
    has,
    delete: (key, text) => removeVersion(key, versionOf(text), announcer),
    deleteForeign: (key) => removeMeant(key, (text) => stateOf(key, text) === 'foreign', options),
    ...createRedisClaims(connection),
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
