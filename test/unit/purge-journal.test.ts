// The journal against a log whose answers come when, and in which order, the test says: what a real
// one does only now and then.
import { describe, expect, test } from 'vitest';
import {
  PURGES_MAX,
  type PurgeOrder,
  type PurgeRecord,
} from '../../src/core/purge/purge-record.ts';
import type { PurgeLog } from '../../src/pipeline/ports.ts';
import { createPurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';

const ALL: PurgeOrder = { selector: { kind: 'all' }, soft: false, undoes: null };
const PAGE = { hostId: 1, dimensionId: 1, url: 'https://a.test/' };

interface HeldLog extends PurgeLog {
  /** Takes the place of what is there, as another store does. */
  readonly replaceBy: (records: readonly PurgeRecord[], life?: string) => void;
  readonly drop: (seq: number) => void;
  /** Answers the oldest question that waits, or any other, with what was so when it was asked. */
  readonly answer: (place?: number) => void;
  readonly fail: () => void;
  readonly asked: () => number;
}

function createHeldLog(count = 0): HeldLog {
  let records = makeRecords(count);
  let droppedTo = 0;
  let life = 'first';
  const held: ((isFailing: boolean) => void)[] = [];
  const end = (): number => records.at(-1)?.seq ?? 0;
  return {
    append: async (order) => {
      const record = { ...order, seq: end() + 1, at: 0 };
      records = [...records, record];
      return { state: 'done', value: record };
    },
    readAfter: async (seq) =>
      await new Promise((resolve) => {
        const found = records.filter((record) => record.seq > Math.max(seq, droppedTo));
        const value = { records: found, end: end(), droppedTo, life };
        held.push((isFailing) =>
          resolve(isFailing ? { state: 'unavailable', reason: 'down' } : { state: 'done', value }),
        );
      }),
    isCaughtUp: (seq) => seq === end(),
    life: () => life,
    onNews: () => undefined,
    replaceBy: (next, nextLife = life) => {
      life = nextLife;
      records = [...next];
      droppedTo = 0;
    },
    drop: (seq) => {
      droppedTo = seq;
    },
    answer: (place = 0) => held.splice(place, 1)[0]?.(false),
    fail: () => held.shift()?.(true),
    asked: () => held.length,
  };
}

function makeRecords(count: number, order = ALL): readonly PurgeRecord[] {
  return Array.from({ length: count }, (_, i) => ({ ...order, seq: i + 1, at: 0 }));
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('catching up', () => {
  test('asks nobody when nothing is new, and tells what is new before it goes on', async () => {
    const log = createHeldLog();
    const journal = createPurgeJournal(log);
    const told: number[] = [];
    journal.onPurges((records) => told.push(...records.map(({ seq }) => seq)));
    const first = journal.catchUp();
    log.answer();
    expect(await first).toEqual({ state: 'done', value: undefined });
    told.length = 0;
    expect(await journal.catchUp()).toEqual({ state: 'done', value: undefined });
    expect([journal.isCaughtUp(), log.asked()]).toEqual([true, 0]);
    await log.append(ALL);
    expect(journal.isCaughtUp()).toBe(false);
    const known = journal.catchUp().then(() => [...told]);
    log.answer();
    expect(await known).toEqual([1]);
    expect([journal.end(), journal.isCaughtUp()]).toEqual([1, true]);
  });

  test('answers out of order, each purge is told once', async () => {
    const log = createHeldLog(1);
    const journal = createPurgeJournal(log);
    const told: number[] = [];
    const begun = journal.catchUp();
    log.answer();
    await begun;
    journal.onPurges((records) => told.push(...records.map(({ seq }) => seq)));
    await log.append(ALL);
    const first = journal.catchUp();
    await log.append(ALL);
    const second = journal.catchUp();
    log.answer(1);
    await second;
    expect([journal.end(), told]).toEqual([3, [2, 3]]);
    log.answer();
    await first;
    expect([journal.end(), told]).toEqual([3, [2, 3]]);
  });

  test('a log that can’t be read is no news', async () => {
    const log = createHeldLog(1);
    const journal = createPurgeJournal(log);
    const known = journal.catchUp();
    log.fail();
    expect(await known).toEqual({ state: 'unavailable', reason: 'down' });
    expect(journal.end()).toBe(0);
  });

  test('another store: what was known is forgotten, late answers of the old one too', async () => {
    const log = createHeldLog(5);
    const journal = createPurgeJournal(log);
    const known = journal.catchUp();
    log.answer();
    await known;
    expect(journal.judge({ ...PAGE, since: 5 })).toEqual({ state: 'kept' });
    await log.append(ALL);
    const late = journal.catchUp();
    const soft: PurgeOrder = { ...ALL, soft: true };
    log.replaceBy(makeRecords(2, soft));
    const early = journal.catchUp();
    log.answer(1);
    await settle();
    log.answer(1);
    await early;
    expect(journal.end()).toBe(2);
    expect(journal.judge({ ...PAGE, since: 5 })).toEqual({ state: 'gone' });
    expect(journal.judge({ ...PAGE, since: 0 })).toEqual({ state: 'softened', by: 2 });
    log.answer();
    expect(await late).toEqual({ state: 'done', value: undefined });
    expect(journal.end()).toBe(2);
    expect(journal.judge({ ...PAGE, since: 0 })).toEqual({ state: 'softened', by: 2 });
  });

  test.each([
    ['empty', 0],
    ['that ends where the former did', 5],
    ['that ends behind the former', 6],
  ])('another store, %s: everything is told as purged, once', async (_name, count) => {
    const log = createHeldLog(5);
    const journal = createPurgeJournal(log);
    const known = journal.catchUp();
    log.answer();
    await known;
    const told: PurgeRecord[] = [];
    journal.onPurges((records) => told.push(...records));
    const other = { selector: { kind: 'host', hostId: 2 }, soft: false, undoes: null } as const;
    log.replaceBy(makeRecords(count, other), 'second');
    expect(journal.isCaughtUp()).toBe(false);
    const asked = [journal.catchUp(), journal.catchUp()];
    while (log.asked() > 0) {
      log.answer();
      await settle();
    }
    expect(await Promise.all(asked)).toEqual(
      asked.map(() => ({ state: 'done', value: undefined })),
    );
    expect(told).toEqual([{ ...ALL, seq: 0, at: 0 }, ...makeRecords(count, other)]);
    expect([journal.end(), journal.isCaughtUp()]).toEqual([count, true]);
  });

  test('remembers so many, and refuses what began before what was dropped', async () => {
    const log = createHeldLog(3 * PURGES_MAX);
    log.drop(PURGES_MAX);
    const journal = createPurgeJournal(log);
    const known = journal.catchUp();
    log.answer();
    await known;
    expect(journal.isCurrent({ ...PAGE, since: journal.end() })).toBe(true);
    expect(journal.isCurrent({ ...PAGE, since: PURGES_MAX - 1 })).toBe(false);
    const other = { ...PAGE, since: journal.end() };
    await log.append({ ...ALL, selector: { kind: 'host', hostId: 2 } });
    const again = journal.catchUp();
    log.answer();
    await again;
    expect(journal.isCurrent(other)).toBe(true);
    expect([journal.find(1), journal.find(journal.end())?.selector]).toEqual([
      null,
      { kind: 'host', hostId: 2 },
    ]);
  });
});

test('what a purge would do is seen, and not done', async () => {
  const log = createHeldLog();
  const journal = createPurgeJournal(log);
  const foreseen = journal.foresee(ALL);
  expect(foreseen({ ...PAGE, since: 0 })).toEqual({ state: 'gone' });
  expect(foreseen({ ...PAGE, since: 1 })).toEqual({ state: 'gone' });
  expect(journal.judge({ ...PAGE, since: 0 })).toEqual({ state: 'kept' });
  expect(journal.end()).toBe(0);
});
