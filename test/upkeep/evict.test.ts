// The quota: which pages go when the store is over it, and which never do.
import { describe, expect, test } from 'vitest';
import { type Eviction, evictPages, sumBytes } from '../../src/pipeline/upkeep/evict-pages.ts';
import { deleteEntry, HOUR_MS } from '../contract/stored-entries.ts';
import type { TestClock } from '../contract/test-clock.ts';
import {
  lookAt,
  makePage,
  NO_PACE,
  type StoredPage,
  type StoredStore,
  storePage,
  useStore,
  valueOf,
} from './stored-store.ts';

let clock: TestClock;
let store: StoredStore;
useStore((opened, itsClock) => {
  store = opened;
  clock = itsClock;
});

/** Pages 0, 1, 2 … of more than a thousand bytes each, stored a minute apart. */
const storePages = async (count: number): Promise<readonly StoredPage[]> => {
  const deleteAt = clock.now() + 240 * HOUR_MS;
  const pages: StoredPage[] = [];
  for (let i = 0; i < count; i += 1) {
    pages.push(await storePage(store, makePage(store, i, { deleteAt })));
    await store.notes.flush();
    clock.advance(60_000);
  }
  return pages;
};
const evict = (bytesMax: number): Promise<Eviction> => evictPages(bytesMax, store.deps, NO_PACE);
const bytesStored = async (): Promise<number> =>
  sumBytes(valueOf(await store.deps.usage.countHosts()));
const kept = async (pages: readonly StoredPage[]): Promise<readonly number[]> => {
  const states = await Promise.all(pages.map((page) => lookAt(store, page)));
  expect(states.filter((state) => state !== 'whole' && state !== 'nothing')).toEqual([]);
  return states.flatMap((state, i) => (state === 'whole' ? [i] : []));
};

describe('over the quota', () => {
  test('nothing goes below it', async () => {
    const pages = await storePages(3);
    expect(await evict(await bytesStored())).toEqual({ pages: 0, stoppedBy: null });
    expect(await kept(pages)).toEqual([0, 1, 2]);
  });

  test('used longest ago goes first, down to a little below the quota', async () => {
    const pages = await storePages(20);
    const bytes = await bytesStored();
    expect(await evict(Math.floor(bytes / 2))).toMatchObject({ stoppedBy: null });
    const left = await bytesStored();
    expect(left).toBeLessThanOrEqual(0.95 * (bytes / 2));
    expect(left).toBeGreaterThan(0.85 * (bytes / 2));
    expect(await kept(pages)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });

  test('a page that is hit stays, however old it is', async () => {
    const pages = await storePages(10);
    const hot = [0, 4];
    for (const i of hot) await store.noted.get(pages[i]?.key ?? '');
    await store.notes.flush();
    await evict(Math.floor((await bytesStored()) / 2));
    expect(await kept(pages)).toEqual([...hot, 8, 9]);
  });

  test('a page that is served from memory counts as used', async () => {
    const pages = await storePages(10);
    const [first] = pages;
    const found = await store.deps.entries.get(first?.key ?? '');
    if (found.state !== 'found') throw new Error(found.state);
    expect(store.noted.isCurrent(first?.key ?? '', found.stamp)).toBe(true);
    await store.notes.flush();
    await evict(Math.floor((await bytesStored()) / 2));
    expect(await kept(pages)).toEqual([0, 7, 8, 9]);
  });

  test('more than one slice', async () => {
    // One body for all, since every body of its own is flushed to the disk.
    const { body, entry } = makePage(store, 0);
    for (let i = 0; i < 150; i += 1) {
      await storePage(store, { ...makePage(store, i, { bodies: entry.bodies }), body });
    }
    await store.notes.flush();
    clock.advance(HOUR_MS / 2);
    expect(await evict(1)).toMatchObject({ pages: 150 });
    expect(await bytesStored()).toBe(0);
  });

  test('what has just been put in place stays: its metadata may not be there yet', async () => {
    const page = await storePage(store, makePage(store, 1));
    await store.notes.flush();
    expect(await evict(1)).toEqual({ pages: 0, stoppedBy: 'all_young' });
    expect(await lookAt(store, page)).toBe('whole');
    clock.advance(HOUR_MS);
    expect(await evict(1)).toEqual({ pages: 1, stoppedBy: null });
  });

  test('pages that nobody has any more make room in the book, and on the disk', async () => {
    const [gone, ...pages] = await storePages(4);
    await deleteEntry(store.deps.entries, gone?.key ?? '');
    const bytes = await bytesStored();
    expect(await evict(bytes - 1)).toMatchObject({ pages: 1 });
    expect(gone && (await lookAt(store, gone))).toBe('nothing');
    expect(await kept(pages)).toEqual([0, 1, 2]);
  });

  test('a page that was replaced while it was to go stays', async () => {
    const [page] = await storePages(1);
    if (page === undefined) throw new Error('no page');
    const { inventory } = store.deps;
    const deps = {
      ...store.deps,
      inventory: {
        ...inventory,
        read: async (keys: readonly string[]) => {
          const items = await inventory.read(keys);
          await store.noted.put(page.key, page.entry);
          return items;
        },
      },
    };
    const stopAtOnce = { ...NO_PACE, isStopped: () => true };
    expect(await evictPages(1, deps, stopAtOnce)).toEqual({ pages: 0, stoppedBy: 'stopped' });
    expect(await lookAt(store, page)).toBe('whole');
  });
});

test.each([-24, 24])('a clock that jumps by %d hours evicts no hot page', async (hours) => {
  const pages = await storePages(10);
  clock.advance(hours * HOUR_MS);
  await store.noted.get(pages[0]?.key ?? '');
  await store.notes.flush();
  clock.advance(2 * 24 * HOUR_MS);
  await evict(Math.floor((await bytesStored()) / 2));
  const left = await kept(pages);
  expect(left).toContain(0);
  expect(left).not.toContain(1);
});
