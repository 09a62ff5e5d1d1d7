// What two processes do to one page at once, over each kind of stores.
import { afterAll, beforeAll } from 'vitest';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { describeInterleavedPages } from './interleaved-pages.contract.ts';
import { openEmbeddedTwo, openRedisTwo } from './open-two-processes.ts';

describeInterleavedPages('embedded', openEmbeddedTwo);

describeWithRedis('on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeInterleavedPages('bodies as files', (...args) =>
    openRedisTwo(server.url, 'files')(...args),
  );
  describeInterleavedPages('bodies in Redis', (...args) =>
    openRedisTwo(server.url, 'redis')(...args),
  );
});
