// The page store over both entry stores, and what purges make of what it holds.
import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { openEmbeddedSubject, openRedisSubject } from './open-entry-stores.ts';
import { describePageStore } from './page-store.contract.ts';
import { describePurgeCounts } from './purge-counts.contract.ts';
import { describePurgedPages } from './purged-pages.contract.ts';

describePageStore('embedded', openEmbeddedSubject);
describePurgedPages('embedded', openEmbeddedSubject);
describePurgeCounts('embedded', openEmbeddedSubject);

describeWithRedis('pages', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describePageStore('redis', (clock) => openRedisSubject(server.url, clock));
  describePurgedPages('redis', (clock) => openRedisSubject(server.url, clock));
  describePurgeCounts('redis', (clock) => openRedisSubject(server.url, clock));
});
