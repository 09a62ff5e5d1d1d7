// Purges on a real Redis: a purge that answers has been heard of, and what the log drops it says.
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { waitForTrust } from './open-redis-stores.ts';
import { ALL, KEY, purgeAll, put, readEnd, useRedisStage } from './redis-stage.ts';
import { deleteEntry, makeEntry } from './stored-entries.ts';

describeWithRedis('a purge', () => {
  const stage = useRedisStage();

  test('is heard of by every process before it answers, however many there are', async () => {
    const processes = [stage.ours, stage.others];
    for (let i = 0; i < 4; i += 1) processes.push(await stage.join(stage.server.url));
    await waitForTrust(...processes);
    let end = await readEnd(stage.ours);
    for (let round = 0; round < 30; round += 1) {
      const seq = await purgeAll(processes[round % processes.length] ?? stage.ours);
      expect(processes.some(({ purgeLog }) => purgeLog.isCaughtUp(end))).toBe(false);
      await waitForTrust(...processes);
      end = seq;
    }
  });

  test('waits for a process that does not answer until its trust is over, and no longer', async () => {
    stage.relay.delayMs = 1_000;
    const end = await readEnd(stage.others);
    await purgeAll(stage.others);
    expect([stage.ours.purgeLog.isCaughtUp(end), stage.others.purgeLog.isCaughtUp(end)]).toEqual([
      false,
      false,
    ]);
  });

  test('goes through when the memory is full', async () => {
    const raw = new Redis(stage.server.url);
    await put(stage.ours);
    await raw.config('SET', 'maxmemory', '1mb');
    expect(await stage.ours.entries.put(KEY, makeEntry())).toEqual({
      state: 'unavailable',
      reason: 'oom',
    });
    const seq = await purgeAll(stage.ours);
    await waitForTrust(stage.ours, stage.others);
    expect(await readEnd(stage.others)).toBe(seq);
    expect(await deleteEntry(stage.ours.entries, KEY)).toEqual({ state: 'done', value: true });
    await raw.config('SET', 'maxmemory', '0');
    await raw.quit();
  });

  test('of long ago is dropped, and of too many the oldest', async () => {
    const raw = new Redis(stage.server.url);
    const text = JSON.stringify({ ...ALL, at: 1 });
    const [seconds = 0] = (await raw.time()).map(Number);
    const now = seconds * 1_000;
    const ages = [1_000_000, 901_000, 100_000, 1_000];
    for (const age of ages) await raw.zadd('{purges}:log', now - age, `${now - age} ${text}`);
    await raw.hset('{purges}:head', 'seq', now - 1_000);
    const seq = await purgeAll(stage.ours);
    expect(await stage.ours.purgeLog.readAfter(0)).toMatchObject({
      value: {
        records: [{ seq: now - 100_000 }, { seq: now - 1_000 }, { seq }],
        end: seq,
        droppedTo: now - 901_000,
      },
    });
    const many = Array.from({ length: 10_000 }, (_, i) => [seq + 1 + i, `${seq + 1 + i} ${text}`]);
    await raw.zadd('{purges}:log', ...many.flat());
    await raw.hset('{purges}:head', 'seq', seq + 10_000);
    const last = await purgeAll(stage.ours);
    expect(last).toBe(seq + 10_001);
    const news = await stage.ours.purgeLog.readAfter(seq + 9_999);
    expect(news).toMatchObject({ value: { end: last, droppedTo: seq + 1 } });
    expect(await raw.zcard('{purges}:log')).toBe(10_000);
    await raw.quit();
  });

  test('log and end that were thrown out of Redis separately are never taken for whole', async () => {
    const raw = new Redis(stage.server.url);
    const first = await purgeAll(stage.ours);
    const second = await purgeAll(stage.ours);
    await raw.del('{purges}:log');
    expect(await stage.ours.purgeLog.readAfter(first)).toMatchObject({
      value: { records: [], end: second, droppedTo: second },
    });
    const third = await purgeAll(stage.ours);
    expect(await stage.ours.purgeLog.readAfter(first)).toMatchObject({
      value: { records: [{ seq: third }], end: third, droppedTo: second },
    });
    await raw.del('{purges}:head');
    expect(await stage.ours.purgeLog.readAfter(third)).toMatchObject({ value: { end: 0 } });
    expect(await purgeAll(stage.ours)).toBeGreaterThan(third);
    await raw.quit();
  });
});
