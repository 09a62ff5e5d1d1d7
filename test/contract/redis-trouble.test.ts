// What happens to Redis while processes share it: whatever it is, memory is not trusted, callers are
// told, and everything works again by itself.
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/core/limits.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { waitForTrust } from './open-redis-stores.ts';
import { ALL, holdCurrent, KEY, purgeAll, put, readEnd, useRedisStage } from './redis-stage.ts';

describeWithRedis('Redis itself', () => {
  const stage = useRedisStage();

  test('is replaced by an empty one: nothing is current, the log ends before', async () => {
    await put(stage.ours);
    const seq = await purgeAll(stage.ours);
    await waitForTrust(stage.ours, stage.others);
    const stamp = await holdCurrent(stage.ours);
    await stage.server.kill();
    stage.server = await startRedisServer({ port: stage.server.port });
    await waitUntil('it is used', async () => (await stage.ours.entries.check()).state === 'done');
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    expect(await readEnd(stage.ours)).toBe(0);
    await waitForTrust(stage.ours, stage.others);
    expect([stage.ours.entries.isCurrent(KEY, stamp), stage.ours.purgeLog.isCaughtUp(seq)]).toEqual(
      [false, false],
    );
    expect(await purgeAll(stage.others)).toBeGreaterThan(seq);
  });

  test('is emptied while everybody is connected: nothing is current for long', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    const raw = new Redis(stage.server.url);
    await raw.flushall();
    await raw.quit();
    await waitUntil('it is not', () => !stage.ours.entries.isCurrent(KEY, stamp));
    await put(stage.ours);
    await holdCurrent(stage.ours);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
  });

  test.each([
    ['frozen', () => stage.server.pause()],
    ['slow by half a second', () => void (stage.relay.delayMs = 500)],
  ])('is %s: not current, no lease, no purge; and all of it again', async (_name, trouble) => {
    const strict = await stage.join(stage.relay.url, { timeoutMs: LIMITS.storeTimeoutMs });
    await put(strict);
    await waitForTrust(strict);
    const stamp = await holdCurrent(strict);
    const end = await readEnd(strict);
    trouble();
    await waitUntil('the trust is over', () => !strict.entries.isCurrent(KEY, stamp));
    expect(strict.purgeLog.isCaughtUp(end)).toBe(false);
    expect(await strict.leases.enter('a')).toMatchObject({ role: 'unavailable' });
    expect(await strict.purgeLog.append(ALL)).toMatchObject({ state: 'unavailable' });
    expect(await strict.purgeLog.readAfter(0)).toMatchObject({ state: 'unavailable' });
    stage.server.resume();
    stage.relay.delayMs = 0;
    await waitUntil('it answers', async () => (await strict.entries.check()).state === 'done');
    await waitForTrust(strict);
    await put(strict);
    await holdCurrent(strict);
    await waitUntil('leases are given', async () => {
      return (await strict.leases.enter('b')).role !== 'unavailable';
    });
  });
});
