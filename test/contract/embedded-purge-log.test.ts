// The embedded purge log: the contract, what it drops, and processes that write at the same time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEmbeddedPurgeLog } from '../../src/adapters/embedded/create-embedded-purge-log.ts';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import { PURGE_KEPT_MS, PURGES_MAX } from '../../src/core/purge/purge-record.ts';
import type { Clock, PurgeLog } from '../../src/pipeline/ports.ts';
import { describePurgeLog, order, type PurgeLogSubject } from './purge-log.contract.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const WRITER = join(import.meta.dirname, 'fixtures', 'write-purges.ts');

describePurgeLog('embedded', openSubject);

describe('embedded purge log', () => {
  let clock: TestClock;
  let subject: PurgeLogSubject & { readonly basePath: string };
  let log: PurgeLog;
  beforeEach(async () => {
    clock = createTestClock();
    subject = await openSubject(clock);
    [log] = subject.clients;
  });
  afterEach(() => subject.dispose());

  test('keeps a quarter of an hour, and says what it has dropped', async () => {
    await log.append(order('a'));
    clock.advance(PURGE_KEPT_MS);
    await log.append(order('b'));
    expect(await log.readAfter(0)).toMatchObject({ value: { end: 2, droppedTo: 0 } });
    clock.advance(1);
    await log.append(order('c'));
    expect(await log.readAfter(0)).toMatchObject({
      value: { records: [{ seq: 2 }, { seq: 3 }], end: 3, droppedTo: 1 },
    });
    clock.advance(2 * PURGE_KEPT_MS);
    await log.append(order('d'));
    expect(await log.readAfter(0)).toMatchObject({
      value: { records: [{ seq: 4 }], end: 4, droppedTo: 3 },
    });
  });

  test('keeps so many, whatever their age', async () => {
    const more = 20;
    await Promise.all(
      Array.from({ length: PURGES_MAX + more }, (_, i) => subject.plant(i + 1, 'unread')),
    );
    await log.append(order('a'));
    const news = await log.readAfter(0);
    const value = news.state === 'done' ? news.value : expect.unreachable();
    // What can't be read has no time either.
    expect(value).toMatchObject({ end: PURGES_MAX + more + 1, droppedTo: PURGES_MAX + more });
    for (let i = 0; i < 3; i += 1) await log.append(order('b'));
    expect(await log.readAfter(value.end)).toMatchObject({ value: { records: { length: 3 } } });
  });

  test('processes that write at once never share a place', async () => {
    const writers = [1, 2, 3].map((name) =>
      spawn(process.execPath, ['--import', 'tsx', WRITER, subject.basePath, `${name}`, '100'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    const codes = await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0]);
    const news = await log.readAfter(0);
    const records = news.state === 'done' ? news.value.records : expect.unreachable(news.reason);
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
    const urls = records.map(({ selector }) => JSON.stringify(selector));
    expect(new Set(urls).size).toBe(300);
    expect(log.isCaughtUp(300)).toBe(true);
  }, 30_000);

  test('one that is closed is unavailable', async () => {
    await subject.dispose();
    expect(await log.append(order('a'))).toMatchObject({ state: 'unavailable' });
    expect(await log.readAfter(0)).toMatchObject({ state: 'unavailable' });
    expect(log.isCaughtUp(0)).toBe(false);
    subject = await openSubject(clock);
  });
});

async function openSubject(clock: Clock): Promise<PurgeLogSubject & { readonly basePath: string }> {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-purges-'));
  const options = { basePath, clock, onWarning: () => undefined };
  // A process opens an environment once; other processes have a test of their own.
  const embedded = openEmbedded(options);
  const raw = open<string, string>({
    path: join(basePath, 'store'),
    noSubdir: false,
    encoding: 'string',
    useVersions: true,
    eventTurnBatching: false,
    separateFlushed: true,
  });
  const keyOf = (seq: number): string => `purge:record:${String(seq).padStart(16, '0')}`;
  return {
    basePath,
    clients: [createEmbeddedPurgeLog(embedded), createEmbeddedPurgeLog(embedded)],
    plant: async (seq, text) => {
      await raw.put(keyOf(seq), text, seq);
      await raw.put('purge:end', '0', seq);
    },
    lose: async () => {
      for (const key of [...raw.getKeys()]) await raw.remove(key);
    },
    dispose: async () => {
      await embedded.environment.close();
      await raw.close();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
}
