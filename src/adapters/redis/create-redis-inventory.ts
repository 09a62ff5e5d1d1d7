// The Inventory port on Redis: a version is the hash of the stored bytes, compared where they are.
import { decodeEntry } from '../../core/key/entry-codec.ts';
import type { Clock, Done } from '../../pipeline/ports.ts';
import type { Inventory, StoredItem } from '../../pipeline/upkeep-ports.ts';
import type { Announcer } from './announce.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { ENTRY_BYTES_MAX, removeVersion, versionOf, WRONG_TYPE } from './entry-version.ts';

export interface RedisInventoryOptions {
  readonly connection: RedisConnection;
  readonly announcer: Announcer;
  readonly clock: Clock;
}

/** Makes the inventory over a connection that others use too. */
export function createRedisInventory(options: RedisInventoryOptions): Inventory {
  const { connection, announcer, clock } = options;

  async function readOne(key: string): Promise<Done<StoredItem | null>> {
    const stored = await connection.run(key, (redis) =>
      redis.getrangeBuffer(key, 0, ENTRY_BYTES_MAX),
    );
    if (stored.state === 'done') return { state: 'done', value: toItem(key, stored.value) };
    if (stored.reason !== 'wrongtype') return stored;
    const content = { state: 'invalid', reason: WRONG_TYPE } as const;
    return { state: 'done', value: { key, version: WRONG_TYPE, bytes: 0, content } };
  }

  function toItem(key: string, value: Buffer): StoredItem | null {
    if (value.length === 0) return null;
    const text = value.toString();
    return {
      key,
      version: versionOf(value),
      bytes: text.length,
      content: decodeEntry(text, key, clock.now()),
    };
  }

  return {
    read: async (keys) => {
      const items = collect(await Promise.all(keys.map(readOne)));
      if (items.state === 'unavailable') return items;
      return { state: 'done', value: items.value.filter((item) => item !== null) };
    },
    findAbsent: async (keys) => {
      const exists = (key: string) => connection.run(key, (redis) => redis.exists(key));
      const counts = collect(await Promise.all(keys.map(exists)));
      if (counts.state === 'unavailable') return counts;
      return { state: 'done', value: keys.filter((_, index) => counts.value[index] === 0) };
    },
    remove: ({ key, version }) => removeVersion(key, version, announcer),
  };
}

/** All answers, or the first that is none. */
function collect<T>(answers: readonly Done<T>[]): Done<readonly T[]> {
  const value: T[] = [];
  for (const answer of answers) {
    if (answer.state === 'unavailable') return answer;
    value.push(answer.value);
  }
  return { state: 'done', value };
}
