// The page store over both entry stores.
import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { openEmbeddedSubject, openRedisSubject } from './open-entry-stores.ts';
import { describePageStore } from './page-store.contract.ts';

describePageStore('embedded', openEmbeddedSubject);

describeWithRedis('pages', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describePageStore('redis', (clock) => openRedisSubject(server.url, clock));
});
