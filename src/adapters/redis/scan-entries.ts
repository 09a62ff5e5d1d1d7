// Lists what is stored, server by server, with SCAN: Redis is never busy with it for long, and half
// a list is never taken for the whole, because what can't be asked ends it as unavailable.
import { formatCacheKeyPrefix, parseCacheKey } from '../../core/key/cache-key.ts';
import { decodeEntry } from '../../core/key/entry-codec.ts';
import type { CacheKey, Clock, Done, EntryFilter, StoredEntry } from '../../pipeline/ports.ts';
import type { RedisConnection, RedisServerAccess } from './connection/redis-connection.ts';
import { escapeGlob } from './escape-glob.ts';

/** How many places of its table Redis looks at in one SCAN: a bound on how long it is busy. */
const SCAN_COUNT = 500;

interface KeySlice {
  readonly server: RedisServerAccess;
  readonly keys: readonly CacheKey[];
}

/** The keys alone. */
export async function* scanKeys(
  connection: RedisConnection,
  filter: EntryFilter,
): AsyncGenerator<Done<readonly CacheKey[]>> {
  for await (const slice of scanSlices(connection, filter)) {
    yield slice.state === 'done' ? { state: 'done', value: slice.value.keys } : slice;
  }
}

/**
 * Keys with their entries; what can't be used is left out.
 *
 * @param bytesMax no more of a value is fetched
 */
export async function* scanEntries(
  connection: RedisConnection,
  filter: EntryFilter,
  clock: Clock,
  bytesMax: number,
): AsyncGenerator<Done<readonly StoredEntry[]>> {
  for await (const slice of scanSlices(connection, filter)) {
    if (slice.state === 'unavailable') {
      yield slice;
      return;
    }
    const { server, keys } = slice.value;
    const texts = await readTexts(server, keys, bytesMax);
    if (texts.state === 'unavailable') {
      yield texts;
      return;
    }
    const value = keys.flatMap((key, index) => {
      const decoded = decodeEntry(texts.value[index] ?? '', key, clock.now());
      return decoded.state === 'entry' ? [{ key, entry: decoded.entry }] : [];
    });
    yield { state: 'done', value };
  }
}

async function* scanSlices(
  connection: RedisConnection,
  { hostId, dimensionId }: EntryFilter,
): AsyncGenerator<Done<KeySlice>> {
  const servers = connection.servers();
  if (servers.length === 0) yield { state: 'unavailable', reason: 'disconnected' };
  const prefix = hostId === undefined ? 'cache:' : formatCacheKeyPrefix(hostId, dimensionId);
  const pattern = `${escapeGlob(prefix)}*`;
  for (const server of servers) {
    let cursor = '0';
    do {
      const from = cursor;
      const slice = await server.run((redis) =>
        redis.scan(from, 'MATCH', pattern, 'COUNT', SCAN_COUNT),
      );
      if (slice.state === 'unavailable') {
        yield slice;
        return;
      }
      cursor = slice.value[0];
      const keys = slice.value[1].filter((key) => parseCacheKey(key) !== null);
      if (keys.length > 0) yield { state: 'done', value: { server, keys } };
    } while (cursor !== '0');
  }
}

/** One round trip. A value of another type is no text. */
async function readTexts(
  server: RedisServerAccess,
  keys: readonly CacheKey[],
  bytesMax: number,
): Promise<Done<readonly string[]>> {
  return await server.run(async (redis) => {
    const pipeline = redis.pipeline();
    for (const key of keys) pipeline.getrange(key, 0, bytesMax);
    const replies = (await pipeline.exec()) ?? [];
    return replies.map(([error, text]) => {
      if (error !== null && !error.message.startsWith('WRONGTYPE')) throw error;
      return typeof text === 'string' ? text : '';
    });
  });
}
