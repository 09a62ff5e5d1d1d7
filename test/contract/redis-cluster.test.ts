// A real Cluster: the contracts, keys that move, a node that is lost, a replica that takes over.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RedisStores } from '../../src/adapters/redis/connect-redis-stores.ts';
import { slotOfKey } from '../../src/adapters/redis/connection/cluster/slot-of-key.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { RedisTarget } from '../../src/core/redis-target.ts';
import type { Entry } from '../../src/pipeline/ports.ts';
import { type RedisCluster, startRedisCluster } from '../helpers/redis-cluster.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { describeBodyStore } from './body-store.contract.ts';
import { describeLeases } from './leases.contract.ts';
import { connectStores, waitForTrust } from './open-redis-stores.ts';
import { holdCurrent, KEY, purgeAll, put, readEnd } from './redis-stage.ts';
import { keyOf, makeEntry } from './stored-entries.ts';

const STRICT = { timeoutMs: LIMITS.storeTimeoutMs };
const WAIT_MS_MAX = LIMITS.storeTimeoutMs + 400;
const HUB_SLOT = slotOfKey('{purges}:head');
const SLOTS = 16_384;

const targetOf = ({ nodes }: Pick<RedisCluster, 'nodes'>): RedisTarget => ({
  kind: 'cluster',
  nodes,
  login: { user: null, password: null, tls: false },
});

/** Entries all over the Cluster. */
const entries = Array.from({ length: 300 }, (_, i) =>
  makeEntry({ hash: i.toString(16).padStart(16, '0') }),
);

/** Which of the three masters has a slot at first. */
const ownerOf = (slot: number): number =>
  [0, 1, 2].findLast((i) => slot >= Math.floor((SLOTS * i) / 3)) ?? 0;

test.each([
  ['123456789', 12_739],
  ['foo', 12_182],
  ['{foo}:bar', 12_182],
  ['a{foo}b{bar}', 12_182],
  ['{}foo', slotOfKey('{}foo')],
  ['é{', slotOfKey('é{')],
])('%s is in slot %d', (key, slot) => {
  expect(slotOfKey(key)).toBe(slot);
});

describeWithRedis('a Cluster', () => {
  let cluster: RedisCluster;
  let open: RedisStores[];
  beforeAll(async () => {
    cluster = await startRedisCluster();
  }, 60_000);
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    open = [];
    await cluster.flush();
  });
  afterEach(async () => {
    await Promise.all(open.map(({ close }) => close()));
  });

  const join = async (options = {}): Promise<RedisStores> => {
    const stores = await connectStores(targetOf(cluster), options);
    open.push(stores);
    return stores;
  };

  describeLeases('redis cluster', async () => {
    const [one, other] = [await join(), await join()];
    await waitForTrust(one, other);
    return {
      clients: [one.leases, other.leases],
      killSecond: other.close,
      dispose: async () => undefined,
    };
  });

  describeBodyStore('redis cluster', async () => {
    const { bodies } = await join();
    if (bodies === null) throw new Error('no store for bodies');
    return { store: bodies, dispose: async () => undefined };
  });

  test('entries are on all nodes, and are listed from all of them', async () => {
    const stores = await join();
    for (const entry of entries) {
      expect(await stores.entries.put(keyOf(entry), entry)).toMatchObject({ state: 'done' });
      expect(await stores.entries.get(keyOf(entry))).toMatchObject({ value: entry });
    }
    expect((await listKeys(stores)).size).toBe(entries.length);
    const listed: string[] = [];
    for await (const page of stores.entries.entries({})) {
      if (page.state === 'unavailable') throw new Error(page.reason);
      listed.push(...page.value.map(({ key }) => key));
    }
    expect(listed.toSorted()).toEqual(entries.map(keyOf).toSorted());
  });

  test('changes and purges are known to every process', async () => {
    const [ours, others] = [await join(), await join()];
    await put(ours);
    await waitForTrust(ours, others);
    const stamp = await holdCurrent(ours);
    await put(others, { status: 404 });
    await waitUntil('it is not current', () => !ours.entries.isCurrent(KEY, stamp));
    let end = await readEnd(ours);
    for (let round = 0; round < 10; round += 1) {
      const seq = await purgeAll(round % 2 ? ours : others);
      expect([ours, others].some(({ purgeLog }) => purgeLog.isCaughtUp(end))).toBe(false);
      await waitForTrust(ours, others);
      end = seq;
    }
  });

  test('a slot moves to another node: its keys are found there', async () => {
    const stores = await join(STRICT);
    await put(stores);
    const slot = slotOfKey(KEY);
    const from = ownerOf(slot);
    const to = (from + 1) % 3;
    await cluster.moveSlot(slot, from, to);
    for (const status of [404, 410]) {
      await put(stores, { status });
      expect(await stores.entries.get(KEY)).toMatchObject({ value: { status } });
    }
    await cluster.moveSlot(slot, to, from);
    expect(await stores.entries.get(KEY)).toMatchObject({ value: { status: 410 } });
  });

  test('the log moves to another node: purges go on, and are waited for', async () => {
    const [ours, others] = [await join(), await join()];
    await waitForTrust(ours, others);
    const end = await purgeAll(ours);
    await waitForTrust(ours, others);
    const from = ownerOf(HUB_SLOT);
    await cluster.moveSlot(HUB_SLOT, from, (from + 1) % 3);
    const seq = await purgeAll(ours);
    expect(others.purgeLog.isCaughtUp(end)).toBe(false);
    await waitForTrust(ours, others);
    expect(await readEnd(others)).toBe(seq);
    await cluster.moveSlot(HUB_SLOT, (from + 1) % 3, from);
  });
});

describeWithRedis('a Cluster that loses', () => {
  let cluster: RedisCluster;
  let stores: RedisStores;
  const start = async (options?: { replica: boolean }): Promise<void> => {
    cluster = await startRedisCluster(options);
    stores = await connectStores(targetOf(cluster), STRICT);
    for (const entry of entries) await stores.entries.put(keyOf(entry), entry);
  };
  afterEach(async () => {
    await stores.close();
    await cluster.stop();
  });

  test.each([
    ['killed', async (node: number) => await cluster.masters[node]?.kill()],
    ['frozen', async (node: number) => cluster.masters[node]?.pause()],
  ])(
    'a node that is %s: its keys are unavailable, no others',
    { timeout: 60_000 },
    async (_name, trouble) => {
      await start();
      const lost = (ownerOf(HUB_SLOT) + 1) % 3;
      await trouble(lost);
      let slowestMs = 0;
      const states = async (): Promise<readonly (readonly [boolean, string])[]> => {
        const found = [];
        for (const entry of entries) {
          const startedAt = performance.now();
          const { state } = await stores.entries.get(keyOf(entry));
          slowestMs = Math.max(slowestMs, performance.now() - startedAt);
          found.push([ownerOf(slotOfKey(keyOf(entry))) === lost, state] as const);
        }
        return found;
      };
      for (let round = 0; round < 2; round += 1) {
        for (const [isLost, state] of await states()) {
          expect([isLost, state]).toEqual([isLost, isLost ? 'unavailable' : 'found']);
        }
      }
      expect(slowestMs).toBeLessThan(WAIT_MS_MAX);
      await expect(listKeys(stores)).rejects.toThrow();
      expect(await stores.purgeLog.readAfter(0)).toMatchObject({ state: 'done' });
    },
  );

  test('a master with a replica: that takes over', { timeout: 60_000 }, async () => {
    await start({ replica: true });
    await cluster.masters[0]?.kill();
    const own = entries.filter((entry) => ownerOf(slotOfKey(keyOf(entry))) === 0);
    await waitUntil('the replica is used', async () => {
      return (await readStates(stores, own)).every((state) => state === 'found');
    });
    const [first] = own;
    if (first !== undefined) {
      expect(await stores.entries.put(keyOf(first), first)).toMatchObject({ state: 'done' });
    }
  });
});

describe('no node at the start', () => {
  test('is no error', async () => {
    const target = targetOf({ nodes: ['127.0.0.1:1', '[::1]:1'] });
    const stores = await connectStores(target);
    expect(await stores.entries.check()).toMatchObject({ state: 'unavailable' });
    for await (const page of stores.entries.keys({})) expect(page.state).toBe('unavailable');
    await stores.close();
  });
});

async function listKeys(stores: RedisStores): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const page of stores.entries.keys({})) {
    if (page.state === 'unavailable') throw new Error(page.reason);
    for (const key of page.value) keys.add(key);
  }
  return keys;
}

async function readStates(stores: RedisStores, some: readonly Entry[]): Promise<readonly string[]> {
  return await Promise.all(
    some.map(async (entry) => (await stores.entries.get(keyOf(entry))).state),
  );
}
