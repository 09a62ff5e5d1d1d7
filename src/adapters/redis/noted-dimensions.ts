// Which dimensions a host's entries are in, noted beside them, so that one page is found in all of
// them without a look at every key there is. Noted by each process with its first entry, and now
// and then again: Redis may have lost it. A dimension stays noted when its entries have gone.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { CacheKey, Clock, Done } from '../../pipeline/ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

export interface NotedDimensions {
  /** Done when the dimension of this key certainly is noted, which is nearly always at once. */
  readonly note: (key: CacheKey) => Promise<Done<void>>;
  readonly list: (hostId: number) => Promise<Done<readonly number[]>>;
}

/** How long a note is taken to be there. */
const NOTED_MS = 60_000;

const DONE = { state: 'done', value: undefined } as const;

export function createNotedDimensions(connection: RedisConnection, clock: Clock): NotedDimensions {
  /** When, by host and dimension: no more than are configured. */
  const notedAt = new Map<string, number>();

  async function note(key: CacheKey): Promise<Done<void>> {
    const ref = parseCacheKey(key);
    if (ref === null) return DONE;
    const name = `${ref.hostId} ${ref.dimensionId}`;
    const now = clock.now();
    const ageMs = now - (notedAt.get(name) ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs < NOTED_MS) return DONE;
    const set = setOf(ref.hostId);
    const done = await connection.run(set, (redis) => redis.sadd(set, ref.dimensionId));
    if (done.state === 'unavailable') return done;
    notedAt.set(name, now);
    return DONE;
  }

  return {
    note,
    list: async (hostId) => {
      const set = setOf(hostId);
      const members = await connection.run(set, (redis) => redis.smembers(set));
      if (members.state === 'unavailable') return members;
      return { state: 'done', value: members.value.map(Number) };
    },
  };
}

/** No key of an entry looks like this, and whoever may use entries may use it. */
function setOf(hostId: number): string {
  return `cache:${hostId}:dimensions`;
}
