// The contracts of leases, purge log and bodies on a real redis-server.
import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { describeBodyStore } from './body-store.contract.ts';
import { describeLeases } from './leases.contract.ts';
import { openRedisPair } from './open-redis-stores.ts';
import { describePurgeLog } from './purge-log.contract.ts';

describeWithRedis('contracts', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeLeases('redis', async () => {
    const { ours, others, dispose } = await openRedisPair(server.url);
    return { clients: [ours.leases, others.leases], killSecond: others.close, dispose };
  });

  describePurgeLog('redis', async (clock) => {
    const { ours, others, raw, dispose } = await openRedisPair(server.url, { clock });
    return {
      clients: [ours.purgeLog, others.purgeLog],
      plant: async (seq, text) => {
        await raw.zadd('{purges}:log', seq, `${seq} ${text}`);
        await raw.hset('{purges}:head', 'seq', seq);
      },
      lose: async () => void (await raw.flushall()),
      dispose,
    };
  });

  describeBodyStore('redis', async () => {
    const { ours, dispose } = await openRedisPair(server.url);
    if (ours.bodies === null) throw new Error('no store for bodies');
    return { store: ours.bodies, dispose };
  });
});
