// What every entry store must do; each adapter runs all of it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encodeEntry } from '../../src/core/key/entry-codec.ts';
import type {
  Entry,
  EntryFilter,
  EntryStore,
  PurgeLog,
  StoredEntry,
} from '../../src/pipeline/ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  COLLISIONS,
  DAMAGED_TEXTS,
  deleteEntry,
  FOREIGN_TEXTS,
  HOUR_MS,
  keyOf,
  makeEntry,
} from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** A store under test, and ways around it into what it keeps. */
export interface EntryStoreSubject {
  readonly store: EntryStore;
  /** The same store as another process has it. */
  readonly openOther: () => Promise<EntryStore>;
  /** That belongs to it. */
  readonly purgeLog: PurgeLog;
  /** Puts any text under a key, as a damaged or newer store would have it. */
  readonly plant: (key: string, text: string) => Promise<void>;
  readonly readRaw: (key: string) => Promise<string | null>;
  readonly dispose: () => Promise<void>;
}

/** Runs the contract against one kind of store; `open` gives an empty one. */
export function describeEntryStore(
  name: string,
  open: (clock: TestClock) => Promise<EntryStoreSubject>,
): void {
  describe(`entry store: ${name}`, () => {
    let clock: TestClock;
    let subject: EntryStoreSubject;
    let store: EntryStore;
    beforeEach(async () => {
      clock = createTestClock();
      subject = await open(clock);
      store = subject.store;
    });
    afterEach(() => subject.dispose());

    const put = async (fields: Partial<Entry> = {}): Promise<Entry> => {
      const entry = makeEntry(fields, clock.now());
      expect(await store.put(keyOf(entry), entry)).toEqual({ state: 'done', value: undefined });
      return entry;
    };
    const listKeys = async (filter: EntryFilter): Promise<string[]> => {
      const found = new Set<string>();
      for await (const page of store.keys(filter)) {
        if (page.state === 'unavailable') throw new Error(page.reason);
        for (const key of page.value) found.add(key);
      }
      return [...found].sort();
    };

    test('dimensions of a host, whoever has stored in them', async () => {
      const other = await subject.openOther();
      const list = async (hostId: number): Promise<readonly number[]> => {
        const found = await other.dimensions(hostId);
        if (found.state === 'unavailable') throw new Error(found.reason);
        return found.value.toSorted((a, b) => a - b);
      };
      expect(await list(1)).toEqual([]);
      for (const dimensionId of [0, 2, 10, 65_535]) await put({ dimensionId });
      await put({ dimensionId: 2, hash: '0'.repeat(16) });
      await put({ hostId: 11, dimensionId: 7 });
      expect(await list(1)).toEqual([0, 2, 10, 65_535]);
      expect(await list(11)).toEqual([7]);
      await other.close();
    });

    test('what was never stored is absent', async () => {
      expect(await store.get(keyOf(makeEntry()))).toEqual({ state: 'absent' });
    });

    test('an entry comes back whole, repeated headers in order', async () => {
      const entry = await put({ bodies: digests(), status: 404, source: 'origin' });
      expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found', value: entry });
    });

    test('replacing: only in place of exactly that entry', async () => {
      const first = await put();
      const key = keyOf(first);
      const next = { ...first, status: 404, deleteAt: first.deleteAt + HOUR_MS };
      expect(await store.replace(key, next, first)).toEqual({ state: 'done', value: false });
      expect(await store.get(key)).toMatchObject({ value: first });
      expect(await store.replace(key, first, next)).toEqual({ state: 'done', value: true });
      expect(await store.get(key)).toMatchObject({ value: next });
      expect(await store.replace(key, first, next)).toEqual({ state: 'done', value: false });
      await deleteEntry(store, key);
      expect(await store.replace(key, next, first)).toEqual({ state: 'done', value: false });
      expect(await store.get(key)).toEqual({ state: 'absent' });
    });

    test('of two replacements at once one wins', async () => {
      const first = await put();
      const replacements = [404, 410, 500].map((status) =>
        store.replace(keyOf(first), first, { ...first, status }),
      );
      const done = await Promise.all(replacements);
      expect(done.filter((one) => one.state === 'done' && one.value)).toHaveLength(1);
    });

    test('storing again replaces the whole value', async () => {
      await put({ bodies: digests() });
      const second = await put({ status: 410, headers: [] });
      expect(await store.get(keyOf(second))).toMatchObject({ state: 'found', value: second });
    });

    test('deleting says whether there was something', async () => {
      const key = keyOf(await put());
      expect(await store.has(key)).toEqual({ state: 'done', value: true });
      expect(await deleteEntry(store, key)).toEqual({ state: 'done', value: true });
      expect(await store.has(key)).toEqual({ state: 'done', value: false });
      expect(await store.get(key)).toEqual({ state: 'absent' });
      expect(await deleteEntry(store, key)).toEqual({ state: 'done', value: false });
    });

    test('deletes only what was found', async () => {
      const first = await put();
      const key = keyOf(first);
      const found = await store.get(key);
      const text = found.state === 'found' ? found.text : expect.unreachable(found.state);
      const second = await put({ status: 404 });
      expect(await store.delete(key, text)).toEqual({ state: 'done', value: false });
      expect(await store.get(key)).toMatchObject({ value: second });
    });

    test('of another version of the format: deleted by that name alone', async () => {
      const key = keyOf(makeEntry());
      expect(await store.deleteForeign(key)).toEqual({ state: 'done', value: false });
      for (const [what, text] of FOREIGN_TEXTS) {
        await subject.plant(key, text);
        expect([what, await store.has(key)]).toEqual([what, { state: 'done', value: true }]);
        expect([what, await store.deleteForeign(key)]).toEqual([
          what,
          { state: 'done', value: true },
        ]);
        expect([what, await subject.readRaw(key)]).toEqual([what, null]);
      }
      await put();
      expect(await store.deleteForeign(key)).toEqual({ state: 'done', value: false });
      expect(await store.has(key)).toEqual({ state: 'done', value: true });
    });

    test('stale is found, expired is absent and gone', async () => {
      const entry = await put({ staleAt: clock.now() + 1, deleteAt: clock.now() + HOUR_MS });
      clock.advance(HOUR_MS - 1);
      expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found' });
      clock.advance(1);
      expect(await store.get(keyOf(entry))).toEqual({ state: 'absent' });
    });

    test('an entry from before the present expires with its replacement only', async () => {
      const entry = await put({ deleteAt: clock.now() + 2 * HOUR_MS });
      clock.advance(3 * HOUR_MS);
      const renewed = makeEntry({}, clock.now());
      await store.put(keyOf(entry), renewed);
      expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found' });
    });

    test('what must never be served is reported and dropped', async () => {
      const key = keyOf(makeEntry());
      for (const [what, text] of DAMAGED_TEXTS) {
        await subject.plant(key, text);
        expect([what, (await store.get(key)).state]).toEqual([what, 'damaged']);
        expect([what, await subject.readRaw(key)]).toEqual([what, null]);
      }
    });

    test('an empty value is never an entry', async () => {
      const key = keyOf(makeEntry());
      await subject.plant(key, '');
      expect((await store.get(key)).state).not.toBe('found');
      await put();
      expect(await store.get(key)).toMatchObject({ state: 'found' });
    });

    test('what another version wrote is absent and left alone', async () => {
      const key = keyOf(makeEntry());
      for (const [what, text] of FOREIGN_TEXTS) {
        await subject.plant(key, text);
        expect([what, await store.get(key)]).toEqual([what, { state: 'absent' }]);
        expect([what, await subject.readRaw(key)]).toEqual([what, text]);
      }
    });

    test.each(COLLISIONS)('$name: the stored URL tells which page it is', async (pair) => {
      const first = await put({ url: pair.first, hash: pair.hash });
      expect(await store.get(keyOf(first))).toMatchObject({ value: { url: pair.first } });
      await put({ url: pair.second, hash: pair.hash });
      expect(await store.get(keyOf(first))).toMatchObject({ value: { url: pair.second } });
    });

    test('keys are those of the host, or of one dimension of it', async () => {
      for (const hostId of [1, 2, 11]) {
        for (const dimensionId of [0, 1, 12]) await put({ hostId, dimensionId });
      }
      const keysOf = (hostId: number, ...dimensions: number[]): string[] =>
        dimensions.map((dimensionId) => keyOf(makeEntry({ hostId, dimensionId }))).sort();
      expect(await listKeys({ hostId: 1 })).toEqual(keysOf(1, 0, 1, 12));
      expect(await listKeys({ hostId: 11, dimensionId: 1 })).toEqual(keysOf(11, 1));
      expect(await listKeys({ hostId: 3 })).toEqual([]);
    });

    test('thousands of keys come in slices, while others are deleted', async () => {
      const entries = Array.from({ length: 1_200 }, (_, i) =>
        makeEntry({ hash: i.toString(16).padStart(16, '0') }, clock.now()),
      );
      await Promise.all(entries.map((entry) => store.put(keyOf(entry), entry)));
      const [doomed, ...kept] = entries.map(keyOf);
      const found = new Set<string>();
      for await (const page of store.keys({ hostId: 1 })) {
        if (page.state === 'unavailable') throw new Error(page.reason);
        expect(page.value.length).toBeLessThan(1_100);
        for (const key of page.value) found.add(key);
        await deleteEntry(store, doomed ?? '');
      }
      expect(kept.filter((key) => !found.has(key))).toEqual([]);
    });

    test('writes of one key at once leave one of them whole', async () => {
      const entries = Array.from({ length: 50 }, (_, i) =>
        makeEntry({ status: 200 + i, headers: [['x-number', String(200 + i)]] }, clock.now()),
      );
      await Promise.all(entries.map((entry) => store.put(keyOf(entry), entry)));
      const found = await store.get(keyOf(makeEntry()));
      expect(entries).toContainEqual(found.state === 'found' ? found.value : found);
    });

    test('entries come with their keys; what can’t be used is left out', async () => {
      const kept = [
        await put({ hostId: 1 }),
        await put({ hostId: 1, dimensionId: 2 }),
        await put({ hostId: 12 }),
      ];
      await put({ hostId: 1, dimensionId: 3, deleteAt: clock.now() + 1, staleAt: clock.now() + 1 });
      clock.advance(1);
      await subject.plant(keyOf(makeEntry({ hostId: 1, dimensionId: 4 })), 'x');
      await subject.plant(keyOf(makeEntry({ hostId: 1, dimensionId: 5 })), '{}');
      const listed = async (filter: EntryFilter): Promise<readonly StoredEntry[]> => {
        const found: StoredEntry[] = [];
        for await (const page of store.entries(filter)) {
          if (page.state === 'unavailable') throw new Error(page.reason);
          found.push(...page.value);
        }
        return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
      };
      const pairs = kept.map((entry) => ({ key: keyOf(entry), entry }));
      expect(await listed({})).toEqual(pairs.toSorted((a, b) => (a.key < b.key ? -1 : 1)));
      expect(await listed({ hostId: 1 })).toEqual(pairs.slice(0, 2));
      expect(await listed({ hostId: 1, dimensionId: 2 })).toEqual(pairs.slice(1, 2));
      expect(await listed({ hostId: 2 })).toEqual([]);
    });

    test('what was read is current until it changes, by whomever', async () => {
      const other = await subject.openOther();
      const first = await put();
      const key = keyOf(first);
      const hold = async (): Promise<number> => {
        let held = -1;
        await waitUntil('what was read is current', async () => {
          const found = await store.get(key);
          held = found.state === 'found' ? found.stamp : -1;
          return store.isCurrent(key, held);
        });
        return held;
      };
      const next = makeEntry({ status: 404 }, clock.now());
      const changes = [
        () => store.put(key, next),
        () => other.put(key, first),
        () => other.replace(key, first, next),
        () => deleteEntry(store, key),
        () => other.put(key, next),
        () => deleteEntry(other, key),
      ];
      for (const change of changes) {
        await store.put(key, first);
        const stamp = await hold();
        expect(await change()).toMatchObject({ state: 'done' });
        await waitUntil('it is not', () => !store.isCurrent(key, stamp));
        expect(store.isCurrent(key, stamp)).toBe(false);
      }
      expect(store.isCurrent(key, -1)).toBe(false);
      await other.close();
    });

    test('check answers; after close nothing answers and nothing throws', async () => {
      expect(await store.check()).toEqual({ state: 'done', value: undefined });
      await store.close();
      const entry = makeEntry({}, clock.now());
      expect(store.isCurrent(keyOf(entry), 1)).toBe(false);
      expect(await store.check()).toMatchObject({ state: 'unavailable' });
      expect(await store.get(keyOf(entry))).toMatchObject({ state: 'unavailable' });
      expect(await store.put(keyOf(entry), entry)).toMatchObject({ state: 'unavailable' });
      expect(await store.delete(keyOf(entry), encodeEntry(entry))).toMatchObject({
        state: 'unavailable',
      });
      expect(await store.claim(keyOf(entry))).toMatchObject({ state: 'unavailable' });
      expect(await store.has(keyOf(entry))).toMatchObject({ state: 'unavailable' });
      for await (const page of store.keys({ hostId: 1 })) {
        expect(page).toMatchObject({ state: 'unavailable' });
      }
    });
  });
}

function digests(): Entry['bodies'] {
  return {
    identity: { bytes: 5, hash: '0'.repeat(16) },
    gzip: { bytes: 3, hash: '1'.repeat(16) },
    br: { bytes: 2, hash: '2'.repeat(16) },
  };
}
