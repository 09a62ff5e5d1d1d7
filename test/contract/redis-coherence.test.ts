// What two processes on one Redis know of each other's changes: nothing that has changed is current
// anywhere once it can be known, also when messages don't arrive.
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { waitForTrust } from './open-redis-stores.ts';
import {
  holdCurrent,
  KEY,
  purgeAll,
  put,
  readEnd,
  readStamp,
  useRedisStage,
} from './redis-stage.ts';
import { deleteEntry, keyOf, makeEntry } from './stored-entries.ts';

describeWithRedis('what was read is current', () => {
  const stage = useRedisStage();

  test('until another process changes it, whatever the change', async () => {
    await put(stage.ours);
    const entry = makeEntry();
    const changes: (() => Promise<unknown>)[] = [
      () => put(stage.others, { status: 404 }),
      () => deleteEntry(stage.others.entries, KEY),
    ];
    for (const change of changes) {
      await put(stage.ours);
      const stamp = await holdCurrent(stage.ours);
      await change();
      await waitUntil('it is not', () => !stage.ours.entries.isCurrent(KEY, stamp));
    }
    await put(stage.ours);
    const found = await stage.ours.entries.get(KEY);
    const stored = found.state === 'found' ? found.value : entry;
    const stamp = await holdCurrent(stage.ours);
    expect(
      await stage.others.entries.replace(KEY, stored, { ...stored, status: 410 }),
    ).toMatchObject({
      value: true,
    });
    await waitUntil('it is not', () => !stage.ours.entries.isCurrent(KEY, stamp));
  });

  test('not after a change of our own, at once', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    await put(stage.ours);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    const next = await holdCurrent(stage.ours);
    await deleteEntry(stage.ours.entries, KEY);
    expect(stage.ours.entries.isCurrent(KEY, next)).toBe(false);
  });

  test('other keys don’t matter', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    const entry = makeEntry({ hash: '1'.repeat(16) });
    for (let i = 0; i < 100; i += 1) await stage.others.entries.put(keyOf(entry), entry);
    await waitUntil('it is current', () => stage.ours.entries.isCurrent(KEY, stamp));
  });

  test('a key among hundreds of thousands that changed since is in doubt', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    const raw = new Redis(stage.server.url);
    const message = (i: number): string =>
      JSON.stringify({ kind: 'changed', by: 'x', key: `cache:1:1:${i}` });
    for (let from = 0; from < 25_000; from += 5_000) {
      const pipeline = raw.pipeline();
      for (let i = from; i < from + 5_000; i += 1) {
        pipeline.publish('edge-gateway:0:news', message(i));
      }
      await pipeline.exec();
    }
    await raw.quit();
    await waitUntil('it is not', () => !stage.ours.entries.isCurrent(KEY, stamp));
    await holdCurrent(stage.ours);
  });

  test('asks nothing while nobody wants to know', async () => {
    await put(stage.ours);
    await holdCurrent(stage.ours);
    await waitUntil('it sleeps', async () => {
      const before = stage.relay.commands.get('hmget');
      await new Promise((resolve) => setTimeout(resolve, 500));
      return stage.relay.commands.get('hmget') === before;
    });
    const stamp = await readStamp(stage.ours);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    await holdCurrent(stage.ours);
  });

  test('a stall of our own ends the trust', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    await holdCurrent(stage.ours);
  });
});

describeWithRedis('messages are cut off, commands work', () => {
  const stage = useRedisStage();

  test('nothing stale is ever current; all is well again once they come', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    stage.relay.cutMessages();
    const end = await readEnd(stage.ours);
    await put(stage.others, { status: 404 });
    const seq = await purgeAll(stage.others);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    expect(stage.ours.purgeLog.isCaughtUp(end)).toBe(false);
    for (let i = 0; i < 50; i += 1) {
      const fresh = await readStamp(stage.ours);
      expect([
        stage.ours.entries.isCurrent(KEY, fresh),
        stage.ours.purgeLog.isCaughtUp(seq),
      ]).toEqual([false, false]);
    }
    stage.relay.heal();
    await holdCurrent(stage.ours);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    await waitForTrust(stage.ours);
    expect(await readEnd(stage.ours)).toBe(seq);
  });

  test('a purge of the process that hears nothing holds everywhere, too', async () => {
    const end = await readEnd(stage.others);
    stage.relay.cutMessages();
    await purgeAll(stage.ours);
    expect([stage.ours.purgeLog.isCaughtUp(end), stage.others.purgeLog.isCaughtUp(end)]).toEqual([
      false,
      false,
    ]);
  });

  test('a follower whose leader’s word is lost hears that the lease has ended', async () => {
    const leading = await stage.others.leases.enter(KEY);
    const following = await stage.ours.leases.enter(KEY);
    expect([leading.role, following.role]).toEqual(['leader', 'follower']);
    stage.relay.cutMessages();
    if (leading.role === 'leader') await leading.lease.release({ outcome: 'stored', reason: null });
    expect(following.role === 'follower' && (await following.result)).toMatchObject({
      outcome: 'lost',
    });
  });

  test('a connection that is lost and made anew leaves nothing current', async () => {
    await put(stage.ours);
    const stamp = await holdCurrent(stage.ours);
    stage.relay.drop();
    await put(stage.others, { status: 404 });
    await waitForTrust(stage.ours);
    expect(stage.ours.entries.isCurrent(KEY, stamp)).toBe(false);
    await holdCurrent(stage.ours);
  });
});
