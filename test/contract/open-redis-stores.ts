// Stores on a real Redis as two processes have them, and a way around them; for the suites.
import { Redis } from 'ioredis';
import {
  connectRedisStores,
  type RedisStores,
  type RedisStoresOptions,
} from '../../src/adapters/redis/connect-redis-stores.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { RedisTarget } from '../../src/core/redis-target.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { PATIENCE_MS } from './open-entry-stores.ts';

export interface RedisPair {
  readonly ours: RedisStores;
  readonly others: RedisStores;
  readonly raw: Redis;
  readonly dispose: () => Promise<void>;
}

/** Connects a process to Redis that says nothing and is patient, unless told otherwise. */
export async function connectStores(
  target: RedisTarget | string,
  options: Partial<RedisStoresOptions> = {},
): Promise<RedisStores> {
  return await connectRedisStores(
    typeof target === 'string' ? { kind: 'single', url: target } : target,
    {
      clock: systemClock,
      onWarning: () => undefined,
      bodies: { hasher: await createHasher(), bytesMax: 20 * 1024 * 1024 },
      timeoutMs: PATIENCE_MS,
      ...options,
    },
  );
}

/** Two processes on a Redis that is emptied first. */
export async function openRedisPair(
  url: string,
  options: Partial<RedisStoresOptions> = {},
): Promise<RedisPair> {
  const raw = new Redis(url);
  await raw.flushall();
  const [ours, others] = [await connectStores(url, options), await connectStores(url, options)];
  await waitForTrust(ours, others);
  return {
    ours,
    others,
    raw,
    dispose: async () => {
      await Promise.all([ours.close(), others.close()]);
      await raw.quit();
    },
  };
}

/** Until messages are heard, and memory may be trusted. */
export async function waitForTrust(...processes: readonly RedisStores[]): Promise<void> {
  for (const { purgeLog } of processes) {
    await waitUntil('the channel is trusted', async () => {
      const news = await purgeLog.readAfter(0);
      return news.state === 'done' && purgeLog.isCaughtUp(news.value.end);
    });
  }
}
