// Whether Redis may drop what must stay: asked without the right to CONFIG, of any kind of Redis,
// told once; who can't be asked is not complained of.
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { RedisStoresWarning } from '../../src/adapters/redis/connect-redis-stores.ts';
import type { RedisTarget } from '../../src/core/redis-target.ts';
import { startRedisCluster } from '../helpers/redis-cluster.ts';
import { startSentinelGroup } from '../helpers/redis-sentinel.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { connectStores } from './open-redis-stores.ts';

const LOGIN = { user: null, password: null, tls: false };

interface Server {
  readonly url: string;
  readonly raw: Redis;
}

async function openServer(args: readonly string[]): Promise<Server> {
  const { url, stop } = await startRedisServer({ args });
  const raw = new Redis(url);
  onTestFinished(async () => {
    await raw.quit();
    await stop();
  });
  return { url, raw };
}

async function connect(target: RedisTarget | string) {
  const warnings: RedisStoresWarning[] = [];
  const stores = await connectStores(target, { onWarning: (warning) => warnings.push(warning) });
  onTestFinished(stores.close);
  return { stores, warnings };
}

describeWithRedis('eviction', () => {
  test.each([
    ['100mb', 'allkeys-lru', true],
    ['100mb', 'allkeys-random', true],
    ['100mb', 'volatile-ttl', true],
    ['100mb', 'noeviction', false],
    ['0', 'allkeys-lru', false],
  ])('maxmemory %s, %s: evicts %j', async (bytes, policy, evicts) => {
    const { url } = await openServer(['--maxmemory', bytes, '--maxmemory-policy', policy]);
    const { stores, warnings } = await connect(url);
    for (let round = 0; round < 2; round += 1) {
      expect(await stores.checkEviction()).toBe(evicts ? policy : null);
    }
    const server = new URL(url).host;
    const hint = expect.stringContaining('noeviction');
    expect(warnings).toEqual(evicts ? [{ kind: 'redis_evicts', server, policy, hint }] : []);
  });

  test('changed while it runs: told when it is next looked at', async () => {
    const { url, raw } = await openServer(['--maxmemory', '100mb']);
    const { stores, warnings } = await connect(url);
    expect(await stores.checkEviction()).toBeNull();
    await raw.config('SET', 'maxmemory-policy', 'allkeys-lfu');
    expect(await stores.checkEviction()).toBe('allkeys-lfu');
    await raw.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await stores.checkEviction()).toBeNull();
    expect(warnings).toHaveLength(1);
  });

  test('a user without INFO, and a server that is gone: nothing is said', async () => {
    const { url, raw } = await openServer(['--maxmemory', '100mb']);
    await raw.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await raw.call(
      'ACL',
      'SETUSER',
      'limited',
      'on',
      '>x',
      'allkeys',
      'allchannels',
      '+@all',
      '-info',
    );
    const limited = await connect(url.replace('redis://', 'redis://limited:x@'));
    expect(await limited.stores.checkEviction()).toBeNull();
    expect(limited.warnings.filter(({ kind }) => kind === 'redis_evicts')).toEqual([]);
    const gone = await connect('redis://127.0.0.1:1');
    expect(await gone.stores.checkEviction()).toBeNull();
  });

  test('Sentinel: the master is asked', async () => {
    const group = await startSentinelGroup();
    onTestFinished(group.stop);
    const { stores } = await connect({
      kind: 'sentinel',
      sentinels: [group.sentinel],
      name: group.name,
      login: LOGIN,
      db: 0,
    });
    expect(await stores.checkEviction()).toBeNull();
  });

  test('a Cluster: one node that evicts is enough', async () => {
    const cluster = await startRedisCluster();
    onTestFinished(cluster.stop);
    const { stores, warnings } = await connect({
      kind: 'cluster',
      nodes: cluster.nodes,
      login: LOGIN,
    });
    await waitUntil(
      'the nodes are known',
      async () => (await stores.entries.check()).state === 'done',
    );
    expect(await stores.checkEviction()).toBeNull();
    const node = new Redis(`redis://${cluster.nodes.at(-1)}`);
    await node.config('SET', 'maxmemory', '100mb');
    await node.config('SET', 'maxmemory-policy', 'volatile-lru');
    node.disconnect();
    expect(await stores.checkEviction()).toBe('volatile-lru');
    expect(warnings).toHaveLength(1);
  });
});
