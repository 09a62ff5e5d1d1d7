// What a sweep removes, and what it leaves, on a real store.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type SweepReport, sweepStore } from '../../src/pipeline/upkeep/sweep-store.ts';
import { deleteEntry, HOUR_MS } from '../contract/stored-entries.ts';
import type { TestClock } from '../contract/test-clock.ts';
import {
  lookAt,
  makePage,
  NO_PACE,
  noPurgesTo,
  type StoredPage,
  type StoredStore,
  storeBody,
  storePage,
  useStore,
  valueOf,
} from './stored-store.ts';

const DAY_MS = 24 * HOUR_MS;

let clock: TestClock;
let store: StoredStore;
useStore((opened, itsClock) => {
  store = opened;
  clock = itsClock;
});

const sweep = async (): Promise<SweepReport> => {
  const report = await sweepStore(store.deps, NO_PACE);
  expect(report.stoppedBy).toBeNull();
  return report;
};
const removedBy = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await sweep()).removed);
const fileOf = ({ ref }: StoredPage): string =>
  join(
    store.basePath,
    'pages',
    String(ref.hostId),
    ref.hash.slice(0, 2),
    `${ref.hash}_${ref.dimensionId}.html`,
  );
const countHosts = async () => valueOf(await store.deps.usage.countHosts());

describe('what goes', () => {
  test('an entry that has expired, with its body', async () => {
    const [short, long] = [makePage(store, 1), makePage(store, 2)];
    await storePage(store, short);
    const deleteAt = clock.now() + DAY_MS;
    await storePage(store, { ...long, entry: { ...long.entry, deleteAt } });
    clock.advance(3 * HOUR_MS);
    expect(await removedBy()).toEqual({ expired: 1 });
    expect(await lookAt(store, short)).toBe('nothing');
    expect(await lookAt(store, long)).toBe('whole');
    expect(await countHosts()).toMatchObject([{ hostId: 1, entries: 1 }]);
  });

  test('a damaged entry, with its body', async () => {
    const page = await storePage(store, makePage(store, 1));
    await store.embedded.environment.put(page.key, '{"schema":1}', 7);
    clock.advance(HOUR_MS);
    expect(await removedBy()).toEqual({ damaged: 1 });
    expect(await lookAt(store, page)).toBe('nothing');
  });

  test('an entry whose body is gone', async () => {
    const page = await storePage(store, makePage(store, 1));
    rmSync(fileOf(page));
    expect(await removedBy()).toMatchObject({ body_missing: 1 });
    expect(await lookAt(store, page)).toBe('nothing');
  });

  test('an entry of another life of the store', async () => {
    const page = await storePage(store, makePage(store, 1, { since: 8 }));
    const kept = await storePage(store, makePage(store, 2, { since: 7 }));
    clock.advance(HOUR_MS);
    const deps = { ...store.deps, readPurges: async () => noPurgesTo(7) };
    const { removed } = await sweepStore(deps, NO_PACE);
    expect(Object.fromEntries(removed)).toEqual({ other_life: 1 });
    expect(await lookAt(store, page)).toBe('nothing');
    expect(await lookAt(store, kept)).toBe('whole');
  });

  test('what a purge left that did not live to carry itself out', async () => {
    const [page, other] = [makePage(store, 1), makePage(store, 2)];
    for (const one of [page, other]) await storePage(store, one);
    const keys = [page.key];
    const selector = { kind: 'url', url: page.entry.url, keys } as const;
    const { seq } = valueOf(await store.journal.append({ selector, soft: false, undoes: null }));
    const newer = await storePage(store, makePage(store, 1, { hostId: 2, since: seq }));
    clock.advance(HOUR_MS);
    expect(await removedBy()).toEqual({ purged: 1 });
    expect(await lookAt(store, page)).toBe('nothing');
    for (const one of [other, newer]) expect(await lookAt(store, one)).toBe('whole');
  });

  test('a body without an entry', async () => {
    const page = makePage(store, 1);
    await storeBody(store, page);
    clock.advance(HOUR_MS);
    expect(await removedBy()).toEqual({ orphan: 1 });
    expect(await lookAt(store, page)).toBe('nothing');
    expect(await removedBy()).toEqual({});
  });

  test('bodies without entries that share their bytes, all of them at once', async () => {
    const body = Buffer.from('the same');
    const pages = Array.from({ length: 20 }, (_, i) => ({ ...makePage(store, i), body }));
    for (const page of pages) await storeBody(store, page);
    clock.advance(HOUR_MS);
    const { orphan = 0 } = await removedBy();
    // The last two may look new, because a name of theirs has just gone.
    expect(orphan).toBeGreaterThanOrEqual(18);
  });

  test('a row of the usage book without an entry', async () => {
    const page = await storePage(store, makePage(store, 1));
    await store.notes.flush();
    await deleteEntry(store.deps.entries, page.key);
    expect(await countHosts()).toMatchObject([{ entries: 1 }]);
    await sweep();
    expect(await countHosts()).toEqual([]);
  });
});

describe('what stays', () => {
  test('whole pages, of hosts that are configured or not', async () => {
    const pages = [1, 2, 77].map((hostId) => makePage(store, 1, { hostId }));
    for (const page of pages) await storePage(store, page);
    clock.advance(HOUR_MS);
    expect(await sweep()).toMatchObject({ entries: 3, removed: new Map() });
    for (const page of pages) expect(await lookAt(store, page)).toBe('whole');
  });

  test('an entry of another format version, and its body', async () => {
    const page = await storePage(store, makePage(store, 1));
    await store.embedded.environment.put(page.key, '{"schema":2}', 7);
    clock.advance(HOUR_MS);
    expect(await removedBy()).toEqual({});
    expect(await lookAt(store, page)).toBe('whole');
  });

  test('a body that has just been written: its entry follows', async () => {
    const page = makePage(store, 1);
    await storeBody(store, page);
    expect(await removedBy()).toEqual({});
    expect(await lookAt(store, page)).toBe('body');
  });

  test('the body of a page that is being stored anew while its entry expires', async () => {
    const page = await storePage(store, makePage(store, 1));
    const expired = { ...page.entry, staleAt: clock.now(), deleteAt: clock.now() };
    await store.deps.entries.put(page.key, expired);
    const { removed } = await sweepStore(store.deps, NO_PACE);
    expect(Object.fromEntries(removed)).toEqual({ expired: 1 });
    expect(await lookAt(store, page)).toBe('body');
    await store.deps.entries.put(page.key, page.entry);
    expect(await lookAt(store, page)).toBe('whole');
  });

  test('a page that was replaced while the sweep looked at it', async () => {
    const page = await storePage(store, makePage(store, 1));
    clock.advance(3 * HOUR_MS);
    const fresh = makePage(store, 1);
    const { inventory } = store.deps;
    const deps = {
      ...store.deps,
      inventory: {
        ...inventory,
        read: async (keys: readonly string[]) => {
          const items = await inventory.read(keys);
          await storePage(store, fresh);
          return items;
        },
      },
    };
    const { removed } = await sweepStore(deps, NO_PACE);
    expect(Object.fromEntries(removed)).toEqual({});
    expect(await lookAt(store, page)).toBe('whole');
    expect(await store.deps.entries.get(page.key)).toMatchObject({ value: fresh.entry });
  });
});

describe('the usage book', () => {
  test('is filled for a store that had none, and keeps what it knew', async () => {
    const pages = [1, 2, 3].map((i) => makePage(store, i));
    for (const page of pages) {
      await storeBody(store, page);
      await store.deps.entries.put(page.key, page.entry);
    }
    await sweep();
    const [host] = await countHosts();
    expect(host).toMatchObject({ hostId: 1, entries: 3 });
    expect(host?.bytes).toBeGreaterThan(3_000);
    await sweep();
    expect(await countHosts()).toEqual([host]);
  });

  test('follows pages that are stored, replaced and deleted', async () => {
    const page = await storePage(store, makePage(store, 1));
    await store.notes.flush();
    const [before] = await countHosts();
    await store.noted.replace(page.key, page.entry, {
      ...page.entry,
      bodies: { ...page.entry.bodies, gzip: { bytes: 500, hash: 'a'.repeat(16) } },
    });
    await store.notes.flush();
    const [after] = await countHosts();
    expect((after?.bytes ?? 0) - (before?.bytes ?? 0)).toBeGreaterThanOrEqual(500);
    await deleteEntry(store.noted, page.key);
    await store.notes.flush();
    expect(await countHosts()).toEqual([]);
  });
});

describe('a clock that jumps', () => {
  test('a day ahead: what is valid by it stays', async () => {
    const short = await storePage(store, makePage(store, 1));
    const long = await storePage(store, makePage(store, 2, { deleteAt: clock.now() + 2 * DAY_MS }));
    clock.advance(DAY_MS);
    expect(await removedBy()).toEqual({ expired: 1 });
    clock.advance(-DAY_MS);
    expect(await removedBy()).toEqual({});
    expect(await lookAt(store, short)).toBe('nothing');
    expect(await lookAt(store, long)).toBe('whole');
  });

  test('a day back: nothing goes, and what is stored then stays afterwards', async () => {
    const page = await storePage(store, makePage(store, 1));
    clock.advance(-DAY_MS);
    const past = await storePage(store, makePage(store, 2, { deleteAt: clock.now() + 2 * DAY_MS }));
    expect(await removedBy()).toEqual({});
    clock.advance(DAY_MS);
    expect(await removedBy()).toEqual({});
    expect(await lookAt(store, page)).toBe('whole');
    expect(await lookAt(store, past)).toBe('whole');
  });
});

test('a store that can’t be read ends the sweep, and nothing is taken for an orphan', async () => {
  const page = await storePage(store, makePage(store, 1));
  clock.advance(HOUR_MS);
  const unavailable = async () => ({ state: 'unavailable', reason: 'frozen' }) as const;
  const { inventory } = store.deps;
  const deps = { ...store.deps, inventory: { ...inventory, findAbsent: unavailable } };
  expect(await sweepStore(deps, NO_PACE)).toMatchObject({
    removed: new Map(),
    stoppedBy: 'frozen',
  });
  expect(await lookAt(store, page)).toBe('whole');
});

test('a sweep that is stopped ends at the next slice', async () => {
  for (let i = 0; i < 300; i += 1) await storePage(store, makePage(store, i));
  let rests = 0;
  const pace = { rest: async () => void (rests += 1), isStopped: () => rests > 0 };
  const report = await sweepStore(store.deps, pace);
  expect(report.stoppedBy).toBe('stopped');
  expect(report.entries).toBeLessThan(300);
});
