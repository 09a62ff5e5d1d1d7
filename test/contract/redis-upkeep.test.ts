// Inventory and usage book on a real redis-server.
import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { connectRedisStores } from '../../src/adapters/redis/connect-redis-stores.ts';
import type { Clock } from '../../src/pipeline/ports.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { describeInventory, type InventorySubject } from './inventory.contract.ts';
import { PATIENCE_MS } from './open-entry-stores.ts';
import { describeUsageBook, type UsageBookSubject } from './usage-book.contract.ts';

describeWithRedis('upkeep', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  const connect = (clock: Clock) =>
    connectRedisStores(
      { kind: 'single', url: server.url },
      { clock, onWarning: () => undefined, bodies: null, timeoutMs: PATIENCE_MS },
    );

  describeInventory('redis', async (clock): Promise<InventorySubject> => {
    const raw = new Redis(server.url);
    await raw.flushall();
    const { entries, inventory, close } = await connect(clock);
    return {
      entries,
      inventory,
      plant: async (key, text) => void (await raw.set(key, text)),
      dispose: async () => {
        await close();
        await raw.quit();
      },
    };
  });

  describeUsageBook('redis', async (clock): Promise<UsageBookSubject> => {
    const raw = new Redis(server.url);
    const clear = async (): Promise<void> => void (await raw.flushall());
    await clear();
    const processes = [await connect(clock), await connect(clock)] as const;
    return {
      books: [processes[0].usage, processes[1].usage],
      clear,
      dispose: async () => {
        await Promise.all(processes.map(({ close }) => close()));
        await raw.quit();
      },
    };
  });
});
