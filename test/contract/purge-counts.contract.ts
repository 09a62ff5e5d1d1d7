// What a purge says it has done, over each entry store: what requests got anew before it came there is
// told apart from what it took out, marked or brought back.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PurgeOrder, PurgeRecord } from '../../src/core/purge/purge-record.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';
import { openPages, type PagesSubject } from './open-pages.ts';
import type { TestClock } from './test-clock.ts';

const [A = '', B = '', C = '', D = ''] = ['a', 'b', 'c', 'd'].map(
  (name) => `https://example.com/${name}`,
);
const HARD: PurgeOrder = { selector: { kind: 'all' }, soft: false, undoes: null };
const SOFT: PurgeOrder = { ...HARD, soft: true };

/** Runs the suite over one kind of entry store, with its purge log. */
export function describePurgeCounts(
  name: string,
  openEntries: (clock: TestClock) => Promise<EntryStoreSubject>,
): void {
  describe(`what a purge has done, over ${name}`, () => {
    let subject: PagesSubject;
    beforeEach(async () => {
      subject = await openPages(openEntries, 0);
    });
    afterEach(() => subject.dispose());

    const save = async (...urls: readonly string[]): Promise<void> => {
      const { pages, journal, draft } = subject;
      for (const url of urls) {
        const saved = await pages.save(draft(url, { since: journal.end() }));
        expect(saved).toMatchObject({ stored: true });
      }
      await pages.drain();
    };
    const append = async (order: PurgeOrder): Promise<PurgeRecord> => {
      const written = await subject.journal.append(order);
      return written.state === 'done' ? written.value : expect.unreachable(written.reason);
    };
    const look = async (url: string): Promise<string> => {
      const { key, ref } = subject.draft(url);
      const found = await subject.pages.lookUp(key, ref, url);
      return found.state === 'hit' ? found.freshness : found.state;
    };

    test.each([
      ['hard', HARD, 'absent'],
      ['soft', SOFT, 'stale'],
    ])(
      '%s: newer is what came in place of what was there, or where nothing was',
      async (...row) => {
        const [, order, left] = row;
        await save(A, B, C);
        const record = await append(order);
        await save(C, D);
        const counts = { entries: 2, newer: 2, failure: null };
        expect(await subject.pages.settlePurged(record)).toEqual(counts);
        expect(await Promise.all([A, B, C, D].map(look))).toEqual([left, left, 'fresh', 'fresh']);
        expect(await subject.pages.settlePurged(record)).toEqual({ ...counts, entries: 0 });
      },
    );

    test('taken back: newer is what was renewed since that purge', async () => {
      await save(A, B);
      const record = await append(SOFT);
      await subject.pages.settlePurged(record);
      await save(B);
      const undo = { ...SOFT, undoes: record.seq };
      const counts = { entries: 1, newer: 1, failure: null };
      expect(await subject.pages.countPurged(undo)).toEqual(counts);
      expect(await subject.pages.settlePurged(await append(undo))).toEqual(counts);
    });

    test('only counted: nothing is newer than what is not ordered yet', async () => {
      await append(HARD);
      await save(A, B);
      const counts = { entries: 2, newer: 0, failure: null };
      expect(await subject.pages.countPurged(HARD)).toEqual(counts);
      expect(await subject.pages.countPurged(SOFT)).toEqual(counts);
    });
  });
}
