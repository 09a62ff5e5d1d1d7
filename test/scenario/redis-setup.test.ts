// What operators are told of a Redis that is set up so that pages or purges get lost.
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Stage, setStage } from './stage.ts';

async function openRedis(...args: readonly string[]) {
  const redis = await startRedisServer({ args });
  onTestFinished(redis.stop);
  return redis;
}

async function readReady({ gateway }: Stage): Promise<unknown> {
  return await (await fetch(`http://127.0.0.1:${gateway.adminPort}/ready`)).json();
}

describeWithRedis('the set-up of Redis', () => {
  test('it evicts: a warning once, and /ready tells', async () => {
    const { url } = await openRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    const stage = await setStage({ gateway: `redis: {url: "${url}"}\n`, origin: () => page('x') });
    expect(await readReady(stage)).toMatchObject({
      status: 'ready',
      checks: { 'memory (redis)': 'evicts by allkeys-lru' },
    });
    const told = stage.gateway.log.filter(({ kind }) => kind === 'redis_evicts');
    expect(told).toMatchObject([{ msg: 'store', policy: 'allkeys-lru' }]);

    const raw = new Redis(url);
    await raw.config('SET', 'maxmemory-policy', 'noeviction');
    await raw.quit();
    expect(JSON.stringify(await readReady(stage))).not.toContain('evicts');
  });

  test('machines that share no folder: the warning of a missing body says so', async () => {
    const { url } = await openRedis();
    const gateway = `redis: {url: "${url}"}\n`;
    const origin = () => page('x');
    const [one, other] = [await setStage({ gateway, origin }), await setStage({ gateway, origin })];
    const damaged = () => other.gateway.log.filter(({ kind }) => kind === 'body_damaged');
    await one.ask('/');
    await waitUntil('the other looks for the body', async () => {
      await other.ask('/');
      return damaged().length > 0;
    });
    expect(damaged()[0]).toMatchObject({
      reason: 'missing',
      hint: expect.stringContaining('share storage.base_path'),
    });
  });
});
