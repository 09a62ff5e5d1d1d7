// The trouble table, Redis: whatever happens to it, no request waits for it longer than its bound,
// nothing is stored by guess, and everything works again by itself.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import { postPurge } from '../helpers/post-purge.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Reply, type Stage, setStage } from './stage.ts';

/** 200 ms for the store, and the rest for a busy machine. */
const WAIT_MS_MAX = 900;

let redis: RedisServer;
beforeEach(async () => {
  redis = await startRedisServer();
});
afterEach(async () => {
  await redis.stop();
});

let version = 'first';
const setUp = async (): Promise<Stage> => {
  version = 'first';
  return await setStage({
    gateway: `redis: {url: "${redis.url}"}\n`,
    origin: ({ target }) => page(`${version} ${target}`),
  });
};

function expectServed(reply: Reply, body: string): void {
  expect([reply.status, reply.body]).toEqual([200, body]);
  expect(reply.header('Cache-Status')).not.toMatch(/stored|; hit/);
  expect(reply.durationMs).toBeLessThan(WAIT_MS_MAX);
}

const isHit = async (stage: Stage, target: string): Promise<boolean> =>
  (await stage.ask(target)).header('X-Render-Cache') === 'hit';

async function storeErrors(stage: Stage): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/metrics`);
  const text = await response.text();
  return text.split('\n').find((line) => line.startsWith('edge_gateway_store_errors')) ?? '';
}

describeWithRedis('Redis', () => {
  test('gone: pages come from the origin; back: they are stored again', async () => {
    const stage = await setUp();
    await stage.ask('/known');
    await redis.kill();
    for (const target of ['/known', '/new', '/known']) {
      expectServed(await stage.ask(target), `first ${target}`);
    }
    redis = await startRedisServer({ port: redis.port });
    await waitUntil('Redis is used again', () => isHit(stage, '/new'));
    const words = stage.gateway.log.filter(({ msg }) => msg === 'store').map(({ kind }) => kind);
    expect(words).toEqual(['redis_unavailable', 'redis_recovered']);
  });

  test('gone from the start: the gateway serves, and uses it once it is there', async () => {
    const { port } = redis;
    await redis.stop();
    const stage = await setUp();
    expectServed(await stage.ask('/page'), 'first /page');
    const ready = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/ready`);
    expect(ready.status).toBe(200);
    redis = await startRedisServer({ port });
    await waitUntil('Redis is used', () => isHit(stage, '/page'));
  });

  test('frozen: no request waits long, no miss is made of it, nothing is overwritten', async () => {
    const stage = await setUp();
    await stage.ask('/known');
    version = 'second';
    redis.pause();
    const targets = Array.from({ length: 50 }, (_, index) => (index % 2 ? '/known' : '/cold'));
    const replies = await mapParallel(10, targets, (target) => stage.ask(target));
    for (const [index, reply] of replies.entries()) {
      expectServed(reply, `second ${targets[index]}`);
    }
    redis.resume();
    await waitUntil('Redis is used again', () => isHit(stage, '/cold'));
    expect((await stage.ask('/known')).body).toBe('first /known');
  });

  test('full: pages are served, what is there stays, and is purged to make room', async () => {
    await redis.stop();
    redis = await startRedisServer({
      port: redis.port,
      args: ['--maxmemory', '2mb', '--maxmemory-policy', 'noeviction'],
    });
    const stage = await setUp();
    const long = (index: number): string => `/page?q=${index}&${'x'.repeat(7_000)}`;
    let filled = 0;
    await waitUntil('Redis is full', async () => {
      filled += 1;
      const reply = await stage.ask(long(filled));
      expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('first /page')]);
      return reply.header('Cache-Status')?.includes('store_unavailable') === true;
    });
    expect((await stage.ask(long(1))).header('X-Render-Cache')).toBe('hit');
    const { answer: purged } = await postPurge(stage.gateway.adminPort, { host: 'site.test' });
    expect(purged).toMatchObject({ entries: filled - 1 });
    await stage.ask('/again');
    expect(await isHit(stage, '/again')).toBe(true);
  });

  test('full of nonsense: a value that is no entry is a miss, dropped and counted', async () => {
    const stage = await setUp();
    const reply = await stage.ask('/page');
    const key = /key="([^"]+)"/.exec(reply.header('Cache-Status') ?? '')?.[1] ?? '';
    const { Redis } = await import('ioredis');
    const client = new Redis(redis.url);
    await client.set(key, 'nonsense');
    await client.quit();
    expect((await stage.ask('/page')).header('X-Render-Cache')).toBe('new');
    expect(await isHit(stage, '/page')).toBe(true);
    expect(await storeErrors(stage)).toMatch(/store="entries".*state="damaged".* 1$/);
  });
});
