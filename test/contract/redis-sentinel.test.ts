// A master that Sentinels replace: nobody needs a restart, nobody waits longer than for any Redis.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type {
  RedisStores,
  RedisStoresWarning,
} from '../../src/adapters/redis/connect-redis-stores.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { type SentinelGroup, startSentinelGroup } from '../helpers/redis-sentinel.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { connectStores, waitForTrust } from './open-redis-stores.ts';
import { holdCurrent, KEY, purgeAll, put, readEnd } from './redis-stage.ts';
import { makeEntry } from './stored-entries.ts';

/** The store timeout, and what a busy machine adds. */
const WAIT_MS_MAX = LIMITS.storeTimeoutMs + 400;

describeWithRedis('Sentinel', () => {
  let group: SentinelGroup;
  let open: RedisStores[];
  let warnings: RedisStoresWarning[];
  beforeEach(async () => {
    group = await startSentinelGroup();
    warnings = [];
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map(({ close }) => close()));
    await group.stop();
  });

  const join = async (): Promise<RedisStores> => {
    const { sentinel, name } = group;
    const login = { user: null, password: null, tls: false };
    const stores = await connectStores(
      { kind: 'sentinel', sentinels: [sentinel], name, login, db: 2 },
      { timeoutMs: LIMITS.storeTimeoutMs, onWarning: (warning) => warnings.push(warning) },
    );
    open.push(stores);
    return stores;
  };

  test.each([
    ['is killed', () => group.master.kill()],
    ['is frozen', async () => group.master.pause()],
  ])('the master %s: the other one is used, and memory is read anew', async (_name, trouble) => {
    const [ours, others] = [await join(), await join()];
    await put(ours);
    await waitForTrust(ours, others);
    const seq = await purgeAll(ours);
    const stamp = await holdCurrent(ours);
    await trouble();
    let longestMs = 0;
    await waitUntil('the new master is used', async () => {
      const startedAt = performance.now();
      const done = await ours.entries.put(KEY, makeEntry({ status: 404 }));
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      return done.state === 'done';
    });
    expect(longestMs).toBeLessThan(WAIT_MS_MAX);
    expect(await group.findMasterPort()).toBe(group.replica.port);
    expect(ours.entries.isCurrent(KEY, stamp)).toBe(false);
    await waitUntil('the other process, too', async () => {
      const found = await others.entries.get(KEY);
      return found.state === 'found' && found.value.status === 404;
    });
    await waitForTrust(ours, others);
    expect(await purgeAll(others)).toBeGreaterThan(seq);
    await waitForTrust(ours, others);
    await holdCurrent(ours);
    const named = warnings.filter(({ server }) => server === group.name).map(({ kind }) => kind);
    expect(named.toSorted()).toEqual([
      'redis_recovered',
      'redis_recovered',
      'redis_unavailable',
      'redis_unavailable',
    ]);
    expect(warnings).toHaveLength(named.length);
  });

  test('no Sentinel at the start: unavailable, and used once there is one', async () => {
    const target = {
      kind: 'sentinel',
      sentinels: ['127.0.0.1:1', group.sentinel],
      name: 'elsewhere',
      login: { user: null, password: null, tls: false },
      db: 0,
    } as const;
    const lost = await connectStores(target, { onWarning: (warning) => warnings.push(warning) });
    open.push(lost);
    expect(await lost.entries.check()).toMatchObject({ state: 'unavailable' });
    expect(warnings).toMatchObject([{ kind: 'redis_unavailable', server: 'elsewhere' }]);
    const second = await connectStores({ ...target, name: group.name });
    open.push(second);
    expect(await second.entries.check()).toMatchObject({ state: 'done' });
    expect(await readEnd(second)).toBe(0);
  });
});
