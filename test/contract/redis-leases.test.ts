// Leases on a real Redis, beyond their contract.
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { KEY, useRedisStage } from './redis-stage.ts';

describeWithRedis('a lease on Redis', () => {
  const stage = useRedisStage();

  test('a holder whose time ran out while it was paused does not hold it', async () => {
    let skippedMs = 0;
    const paused = await stage.join(stage.server.url, {
      monotonicNow: () => performance.now() + skippedMs,
    });
    const turn = await paused.leases.enter(KEY);
    if (turn.role !== 'leader') throw new Error(turn.role);
    skippedMs = 2_001;
    expect(turn.lease.isHeld()).toBe(false);
    const raw = new Redis(stage.server.url);
    const name = `lease:{${KEY}}`;
    await raw.del(name);
    const next = await stage.ours.leases.enter(KEY);
    expect(next.role).toBe('leader');
    await turn.lease.release({ outcome: 'stored', reason: null });
    expect(next.role === 'leader' && next.lease.isHeld()).toBe(true);
    expect(await raw.exists(name)).toBe(1);
    await raw.quit();
  });

  test('is in the slot of its entry, runs out by itself, and is gone after its release', async () => {
    const raw = new Redis(stage.server.url);
    const turn = await stage.ours.leases.enter(KEY);
    const ttl = await raw.pttl(`lease:{${KEY}}`);
    expect(ttl > 0 && ttl <= 2_000).toBe(true);
    if (turn.role === 'leader') await turn.lease.release({ outcome: 'failed', reason: 'x' });
    expect(await raw.exists(`lease:{${KEY}}`)).toBe(0);
    await raw.quit();
  });
});
