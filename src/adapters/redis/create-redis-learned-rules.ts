// The LearnedRules port on Redis: one hash, so that it is whole on one node of a cluster. A word in
// it that changes with every write tells whether what is known is what is stored; it is asked for
// once a second at most, behind the requests' backs.
import { randomUUID } from 'node:crypto';
import {
  decodeLearned,
  encodeLearned,
  findRoom,
  type LearnedRule,
  type LearnedTable,
  learnedName,
} from '../../core/learned/learned-rule.ts';
import type { Clock, Done, LearnedRules } from '../../pipeline/ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

const KEY = 'learned';
const STATE = 'state';
const REFRESH_MS = 1_000;
const DONE: Done<void> = { state: 'done', value: undefined };

/** Makes the learned rules over a connection, which its opener closes; reads them once. */
export async function createRedisLearnedRules(
  connection: Pick<RedisConnection, 'run'>,
  clock: Clock,
): Promise<LearnedRules> {
  let state: string | null = null;
  let table: LearnedTable = new Map();
  let refreshedAt = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<Done<void>> {
    refreshedAt = clock.now();
    const told = await connection.run(KEY, (redis) => redis.hget(KEY, STATE));
    if (told.state === 'unavailable') return told;
    if (told.value === state) return DONE;
    const stored = await connection.run(KEY, (redis) => redis.hgetall(KEY));
    if (stored.state === 'unavailable') return stored;
    state = stored.value[STATE] ?? null;
    table = decodeAll(stored.value);
    return DONE;
  }

  /** The word comes last: who reads in between reads again. */
  async function change(
    leaving: readonly string[],
    pairs: Readonly<Record<string, string>>,
  ): Promise<Done<void>> {
    const done = await connection.run(KEY, async (redis) => {
      if (leaving.length > 0) await redis.hdel(KEY, ...leaving);
      await redis.hset(KEY, { ...pairs, [STATE]: randomUUID() });
    });
    return done.state === 'unavailable' ? done : await refresh();
  }

  await refresh();
  return {
    current: () => {
      const age = clock.now() - refreshedAt;
      // A clock that was put back counts as time gone by.
      if (age >= REFRESH_MS || age < 0) void refresh();
      return table;
    },
    refresh,
    learn: async (rule) => {
      const leaving = findRoom(table, rule);
      if (leaving === null) return DONE;
      return await change(leaving, {
        [learnedName(rule.hostId, rule.address)]: encodeLearned(rule),
      });
    },
    forget: async (hostId, address) => await change([learnedName(hostId, address)], {}),
  };
}

function decodeAll(stored: Readonly<Record<string, string>>): LearnedTable {
  const table = new Map<string, LearnedRule>();
  for (const [name, text] of Object.entries(stored)) {
    const rule = name === STATE ? null : decodeLearned(name, text);
    if (rule !== null) table.set(name, rule);
  }
  return table;
}
