// What every usage book must do; each adapter runs all of it.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Done } from '../../src/pipeline/ports.ts';
import type { UsageBook, UsageChange } from '../../src/pipeline/upkeep-ports.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** Two processes' books of one store, empty. */
export interface UsageBookSubject {
  readonly books: readonly [UsageBook, UsageBook];
  readonly clear: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const DAY_MS = 24 * 3_600_000;

/** Runs the contract against one kind of usage book. */
export function describeUsageBook(
  name: string,
  open: (clock: TestClock) => Promise<UsageBookSubject>,
): void {
  describe(`usage book: ${name}`, () => {
    let clock: TestClock;
    let subject: UsageBookSubject;
    let book: UsageBook;
    beforeEach(async () => {
      clock = createTestClock();
      subject = await open(clock);
      [book] = subject.books;
    });
    afterEach(() => subject.dispose());

    const apply = async (...changes: readonly UsageChange[]): Promise<void> => {
      expect(await book.apply(changes)).toEqual({ state: 'done', value: undefined });
    };
    const oldest = async (): Promise<readonly number[]> =>
      valueOf(await book.listOldest(100)).map(({ key }) => numberOf(key));
    const store = async (...numbers: readonly number[]): Promise<void> => {
      for (const number of numbers) {
        await apply({ kind: 'stored', key: keyNumber(number), bytes: 10, usedAt: clock.now() });
        clock.advance(1_000);
      }
    };

    test('nothing is counted at first', async () => {
      expect(valueOf(await book.countHosts())).toEqual([]);
      expect(await oldest()).toEqual([]);
      expect(await listAll(book)).toEqual([]);
    });

    test('pages are counted by host, and by their last size', async () => {
      await apply(
        { kind: 'stored', key: keyNumber(1), bytes: 100, usedAt: clock.now() },
        { kind: 'stored', key: keyNumber(2), bytes: 200, usedAt: clock.now() },
        { kind: 'stored', key: keyNumber(3, 7), bytes: 5, usedAt: clock.now() },
      );
      await apply({ kind: 'stored', key: keyNumber(1), bytes: 150, usedAt: clock.now() });
      expect(valueOf(await book.countHosts())).toEqual([
        { hostId: 1, entries: 2, bytes: 350 },
        { hostId: 7, entries: 1, bytes: 5 },
      ]);
      await apply({ kind: 'gone', key: keyNumber(2) }, { kind: 'gone', key: keyNumber(3, 7) });
      expect(valueOf(await book.countHosts())).toEqual([{ hostId: 1, entries: 1, bytes: 150 }]);
    });

    test('used longest ago comes first', async () => {
      await store(1, 2, 3);
      expect(await oldest()).toEqual([1, 2, 3]);
      await apply({ kind: 'used', key: keyNumber(1), usedAt: clock.now() });
      expect(await oldest()).toEqual([2, 3, 1]);
      clock.advance(1_000);
      await apply({ kind: 'stored', key: keyNumber(2), bytes: 20, usedAt: clock.now() });
      expect(await oldest()).toEqual([3, 1, 2]);
      expect(valueOf(await book.listOldest(1))).toEqual([{ key: keyNumber(3), bytes: 10 }]);
    });

    test('the order is that of the uses, not of the telling', async () => {
      const usedAt = clock.now();
      clock.advance(10_000);
      await apply(
        { kind: 'stored', key: keyNumber(1), bytes: 1, usedAt: usedAt + 5_000 },
        { kind: 'stored', key: keyNumber(2), bytes: 1, usedAt },
      );
      expect(await oldest()).toEqual([2, 1]);
    });

    test('what is not known is not made by being used, and goes without a trace', async () => {
      await apply(
        { kind: 'used', key: keyNumber(1), usedAt: clock.now() },
        { kind: 'gone', key: keyNumber(2) },
      );
      expect(valueOf(await book.countHosts())).toEqual([]);
      expect(await listAll(book)).toEqual([]);
    });

    test('what a sweep finds is counted once, as used when it says', async () => {
      await store(1);
      clock.advance(10_000);
      await store(2);
      const usedAt = clock.now() - 5_000;
      await apply({ kind: 'found', key: keyNumber(3), bytes: 30, usedAt });
      expect(await oldest()).toEqual([1, 3, 2]);
      await apply({ kind: 'found', key: keyNumber(1), bytes: 40, usedAt: clock.now() });
      expect(await oldest()).toEqual([1, 3, 2]);
      expect(valueOf(await book.countHosts())).toEqual([{ hostId: 1, entries: 3, bytes: 80 }]);
    });

    test('found with a time to come: not younger than what is used now', async () => {
      await apply({
        kind: 'found',
        key: keyNumber(1),
        bytes: 1,
        usedAt: clock.now() + DAY_MS,
      });
      clock.advance(1_000);
      await store(2);
      expect(await oldest()).toEqual([1, 2]);
    });

    test.each([-DAY_MS, DAY_MS])('a clock that jumps by %d ms keeps the order', async (jumpMs) => {
      await store(1, 2, 3);
      clock.advance(jumpMs);
      await apply({ kind: 'used', key: keyNumber(1), usedAt: clock.now() });
      expect((await oldest())[0]).toBe(2);
      clock.advance(-jumpMs);
      clock.advance(1_000);
      await apply({ kind: 'used', key: keyNumber(2), usedAt: clock.now() });
      expect((await oldest())[0]).not.toBe(2);
    });

    test('two processes write one book', async () => {
      const [first, second] = subject.books;
      const changesOf = (from: number): UsageChange[] =>
        Array.from({ length: 500 }, (_, i) => ({
          kind: 'stored',
          key: keyNumber(from + i),
          bytes: 1,
          usedAt: clock.now(),
        }));
      const done = await Promise.all([first.apply(changesOf(0)), second.apply(changesOf(250))]);
      expect(done.map(({ state }) => state)).toEqual(['done', 'done']);
      for (const one of subject.books) {
        expect(valueOf(await one.countHosts())).toEqual([{ hostId: 1, entries: 750, bytes: 750 }]);
        expect(await listAll(one)).toHaveLength(750);
      }
    });

    test('the sums are those of the rows, whatever happens', async () => {
      const number = fc.nat(12);
      const usedAt = fc.integer({ min: 0, max: 2 * Date.now() });
      const change = fc.oneof(
        fc.record({ kind: fc.constant('gone'), number }),
        fc.record({ kind: fc.constant('used'), number, usedAt }),
        fc.record({
          kind: fc.constantFrom('stored', 'found'),
          number,
          bytes: fc.nat(1_000),
          usedAt,
        }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(change, { maxLength: 20 })), async (batches) => {
          await subject.clear();
          const model = new Map<string, number>();
          for (const batch of batches) {
            const changes = batch.map(
              ({ number: page, ...rest }) => ({ ...rest, key: keyNumber(page) }) as UsageChange,
            );
            for (const one of changes) follow(model, one);
            await apply(...changes);
            clock.advance(700);
          }
          const rows = await listAll(book);
          expect(new Map(rows.map(({ key, bytes }) => [key, bytes]))).toEqual(model);
          const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
          const expected = rows.length === 0 ? [] : [{ hostId: 1, entries: rows.length, bytes }];
          expect(valueOf(await book.countHosts())).toEqual(expected);
          expect(new Set(await oldest())).toEqual(new Set(rows.map(({ key }) => numberOf(key))));
        }),
        { numRuns: 30 },
      );
    });
  });
}

function follow(model: Map<string, number>, change: UsageChange): void {
  if (change.kind === 'gone') model.delete(change.key);
  if ('bytes' in change) model.set(change.key, change.bytes);
}

function keyNumber(number: number, hostId = 1): string {
  return `cache:${hostId}:1:${number.toString(16).padStart(16, '0')}`;
}

function numberOf(key: string): number {
  return Number.parseInt(key.slice(-16), 16);
}

async function listAll(book: UsageBook) {
  const all = [];
  for await (const page of book.list()) all.push(...valueOf(page));
  return all;
}

function valueOf<T>(done: Done<T>): T {
  if (done.state === 'unavailable') throw new Error(done.reason);
  return done.value;
}
