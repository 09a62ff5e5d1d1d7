// Two processes on one real Redis, one of them through a relay, and what the suites do with them.
import { afterEach, beforeEach, expect } from 'vitest';
import type {
  RedisStores,
  RedisStoresOptions,
} from '../../src/adapters/redis/connect-redis-stores.ts';
import type { PurgeOrder } from '../../src/core/purge/purge-record.ts';
import type { Entry } from '../../src/pipeline/ports.ts';
import { type RedisRelay, startRedisRelay } from '../helpers/redis-relay.ts';
import { type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { connectStores, waitForTrust } from './open-redis-stores.ts';
import { keyOf, makeEntry } from './stored-entries.ts';

export interface RedisStage {
  server: RedisServer;
  relay: RedisRelay;
  /** Reaches Redis through the relay. */
  ours: RedisStores;
  /** Reaches Redis directly. */
  others: RedisStores;
  /** One more process. */
  join: (url: string, options?: Partial<RedisStoresOptions>) => Promise<RedisStores>;
}

export const ALL: PurgeOrder = { selector: { kind: 'all' }, soft: false, undoes: null };
export const KEY = keyOf(makeEntry());

/** Sets the stage for each test of a suite; what it gives is filled in before each. */
export function useRedisStage(): RedisStage {
  const stage: Partial<RedisStage> = {};
  let open: RedisStores[] = [];
  beforeEach(async () => {
    open = [];
    stage.server = await startRedisServer();
    stage.relay = await startRedisRelay(stage.server.port);
    stage.join = async (url, options) => {
      const stores = await connectStores(url, options);
      open.push(stores);
      return stores;
    };
    stage.ours = await stage.join(stage.relay.url);
    stage.others = await stage.join(stage.server.url);
    await waitForTrust(stage.ours, stage.others);
  });
  afterEach(async () => {
    await Promise.all(open.map(({ close }) => close()));
    await stage.relay?.close();
    await stage.server?.stop();
  });
  return stage as RedisStage;
}

export async function put(stores: RedisStores, fields: Partial<Entry> = {}): Promise<void> {
  expect(await stores.entries.put(KEY, makeEntry(fields))).toMatchObject({ state: 'done' });
}

export async function readStamp({ entries }: RedisStores, key = KEY): Promise<number> {
  const found = await entries.get(key);
  if (found.state !== 'found') throw new Error(found.state);
  return found.stamp;
}

/** Reads until memory may rely on what was read; answers its stamp. */
export async function holdCurrent(stores: RedisStores, key = KEY): Promise<number> {
  let stamp = 0;
  await waitUntil('what was read is current', async () => {
    stamp = await readStamp(stores, key);
    return stores.entries.isCurrent(key, stamp);
  });
  return stamp;
}

export async function readEnd({ purgeLog }: RedisStores): Promise<number> {
  const news = await purgeLog.readAfter(0);
  if (news.state === 'unavailable') throw new Error(news.reason);
  return news.value.end;
}

export async function purgeAll({ purgeLog }: RedisStores): Promise<number> {
  const done = await purgeLog.append(ALL);
  if (done.state === 'unavailable') throw new Error(done.reason);
  return done.value.seq;
}
