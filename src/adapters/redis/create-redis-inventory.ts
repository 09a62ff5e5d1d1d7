// The Inventory port on Redis: a version is the hash of the stored bytes, compared where they are.
import { createHash } from 'node:crypto';
import { decodeEntry, ENTRY_CHARS_MAX } from '../../core/key/entry-codec.ts';
import type { Clock, Done } from '../../pipeline/ports.ts';
import type { Inventory, StoredItem } from '../../pipeline/upkeep-ports.ts';
import type { Announcer } from './announce.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

export interface RedisInventoryOptions {
  readonly connection: RedisConnection;
  readonly announcer: Announcer;
  readonly clock: Clock;
}

/** No more of a value is looked at; 2 bytes a character. */
const VALUE_BYTES_MAX = 2 * ENTRY_CHARS_MAX;

/** The version of what is no string. */
const WRONG_TYPE = 'wrong_type';

const REMOVE = `
  local version = '${WRONG_TYPE}'
  if redis.call('TYPE', KEYS[1]).ok == 'string' then
    version = redis.sha1hex(redis.call('GETRANGE', KEYS[1], 0, ${VALUE_BYTES_MAX}))
  end
  if version ~= ARGV[1] then return 0 end
  return redis.call('UNLINK', KEYS[1])
`;

/** Makes the inventory over a connection that others use too. */
export function createRedisInventory(options: RedisInventoryOptions): Inventory {
  const { connection, announcer, clock } = options;

  async function readOne(key: string): Promise<Done<StoredItem | null>> {
    const stored = await connection.run(key, (redis) =>
      redis.getrangeBuffer(key, 0, VALUE_BYTES_MAX),
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
      version: createHash('sha1').update(value).digest('hex'),
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
    remove: async ({ key, version }) => {
      const done = await announcer.change(key, (redis) => redis.eval(REMOVE, 1, key, version));
      return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
    },
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
