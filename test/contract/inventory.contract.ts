// What every inventory must do; each adapter runs all of it, beside its entry store.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Done, EntryStore } from '../../src/pipeline/ports.ts';
import type { Inventory } from '../../src/pipeline/upkeep-ports.ts';
import { DAMAGED_TEXTS, FOREIGN_TEXTS, HOUR_MS, keyOf, makeEntry } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** An inventory under test, with the store it looks at. */
export interface InventorySubject {
  readonly entries: EntryStore;
  readonly inventory: Inventory;
  /** Puts any text under a key. */
  readonly plant: (key: string, text: string) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** Runs the contract against one kind of store. */
export function describeInventory(
  name: string,
  open: (clock: TestClock) => Promise<InventorySubject>,
): void {
  describe(`inventory: ${name}`, () => {
    let clock: TestClock;
    let subject: InventorySubject;
    beforeEach(async () => {
      clock = createTestClock();
      subject = await open(clock);
    });
    afterEach(() => subject.dispose());

    const put = async (fields: Parameters<typeof makeEntry>[0] = {}) => {
      const entry = makeEntry(fields, clock.now());
      await subject.entries.put(keyOf(entry), entry);
      return { key: keyOf(entry), entry };
    };
    const readOne = async (key: string) => {
      const [item] = valueOf(await subject.inventory.read([key]));
      if (item === undefined) throw new Error(`nothing under ${key}`);
      return item;
    };

    test('reads what is there, and nothing for what is not', async () => {
      const { key, entry } = await put();
      const other = keyOf(makeEntry({ hash: 'f'.repeat(16) }));
      const items = valueOf(await subject.inventory.read([other, key]));
      expect(items).toMatchObject([{ key, content: { state: 'entry', entry } }]);
      expect(items[0]?.bytes).toBe(JSON.stringify(entry).length);
      expect(valueOf(await subject.inventory.findAbsent([other, key]))).toEqual([other]);
      expect(valueOf(await subject.inventory.read([]))).toEqual([]);
      expect(valueOf(await subject.inventory.findAbsent([]))).toEqual([]);
    });

    test('removes the version it read', async () => {
      const { key } = await put();
      const item = await readOne(key);
      expect(await subject.inventory.remove(item)).toEqual({ state: 'done', value: true });
      expect(await subject.inventory.remove(item)).toEqual({ state: 'done', value: false });
      expect(await subject.entries.get(key)).toEqual({ state: 'absent' });
    });

    test('leaves a newer version alone', async () => {
      const { key } = await put();
      const item = await readOne(key);
      const { entry } = await put({ status: 404 });
      expect(await subject.inventory.remove(item)).toEqual({ state: 'done', value: false });
      expect(await subject.entries.get(key)).toMatchObject({ value: entry });
    });

    test('an entry of a clock that was ahead can be removed too', async () => {
      const ahead = clock.now() + 24 * HOUR_MS;
      const { key } = await put(makeEntry({}, ahead));
      const item = await readOne(key);
      expect(item.content.state).toBe('entry');
      expect(await subject.inventory.remove(item)).toEqual({ state: 'done', value: true });
    });

    test('says that an entry has expired by our clock', async () => {
      const { key } = await put({ deleteAt: clock.now() + HOUR_MS });
      clock.advance(HOUR_MS);
      expect((await readOne(key)).content).toEqual({ state: 'expired' });
    });

    test.each(FOREIGN_TEXTS)('foreign: %s', async (_name, text) => {
      const key = keyOf(makeEntry());
      await subject.plant(key, text);
      expect((await readOne(key)).content).toEqual({ state: 'foreign' });
    });

    test.each(DAMAGED_TEXTS)('damaged, and can be removed: %s', async (_name, text) => {
      const key = keyOf(makeEntry());
      await subject.plant(key, text);
      const item = await readOne(key);
      expect(item.content.state).toBe('invalid');
      expect(await subject.inventory.remove(item)).toEqual({ state: 'done', value: true });
      expect(valueOf(await subject.inventory.findAbsent([key]))).toEqual([key]);
    });
  });
}

function valueOf<T>(done: Done<T>): T {
  if (done.state === 'unavailable') throw new Error(done.reason);
  return done.value;
}
