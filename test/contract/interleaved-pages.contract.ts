// Two processes on one store, one of which stores a page at the worst moment of what the other does:
// whatever was looked at before, an entry never loses its bodies, and nobody raises a false alarm.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { PurgeRecord } from '../../src/core/purge/purge-record.ts';
import type { BodyRef, BodyStore, Entry, EntryStore, Hasher } from '../../src/pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import type { Saved } from '../../src/pipeline/store/save-page.ts';
import { removeBodies, removePage } from '../../src/pipeline/upkeep/remove-page.ts';
import type { OpenTwo, ProcessStores, TwoProcesses } from './open-two-processes.ts';
import { createDrafts } from './page-drafts.ts';
import { deleteEntry, HOUR_MS } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const URL_A = 'https://example.com/a';

interface Process extends ProcessStores {
  readonly journal: PurgeJournal;
  readonly pages: PageStore;
}

/** Runs the suite over one kind of stores. */
export function describeInterleavedPages(name: string, openTwo: OpenTwo): void {
  describe(`a page of two processes: ${name}`, { timeout: 60_000 }, () => {
    let basePath: string;
    let clock: TestClock;
    let hasher: Hasher;
    let two: TwoProcesses;
    let started: Process[];
    let events: unknown[];
    let key: string;
    let ref: BodyRef;
    beforeEach(async () => {
      basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-two-'));
      clock = createTestClock();
      hasher = await createHasher();
      two = await openTwo(basePath, clock);
      started = [];
      events = [];
      ({ key, ref } = draftOf('', 0));
      const one = start(two.one);
      expect(await save(one, 'first')).toMatchObject({ stored: true });
      await one.pages.drain();
    });
    afterEach(async () => {
      for (const { pages } of started) await pages.drain();
      await two.dispose();
      rmSync(basePath, { recursive: true, force: true });
    });

    const start = (stores: ProcessStores): Process => {
      const journal = createPurgeJournal(stores.purgeLog);
      const pages = createPageStore({
        ...stores,
        journal,
        hasher,
        clock,
        memoryBytesMax: 0,
        onEvent: (event) => events.push(event),
      });
      const process = { ...stores, journal, pages };
      started.push(process);
      return process;
    };
    const draftOf = (text: string, since: number) =>
      createDrafts(hasher, clock)(URL_A, {
        body: Buffer.from(`<p>${text}</p>`.repeat(200)),
        since,
      });
    const save = async ({ journal, pages }: Process, text: string): Promise<Saved> => {
      await journal.catchUp();
      clock.advance(1);
      return await pages.save(draftOf(text, journal.end()));
    };
    const append = async ({ journal }: Process): Promise<PurgeRecord> => {
      const order = { selector: { kind: 'all' }, soft: false, undoes: null } as const;
      const written = await journal.append(order);
      return written.state === 'done' ? written.value : expect.unreachable(written.reason);
    };
    const readEntry = async (): Promise<Entry> => {
      const found = await two.one.entries.get(key);
      return found.state === 'found' ? found.value : expect.unreachable(found.state);
    };
    /** Stores the page by the first process, until that is done or has to wait for somebody. */
    const beginSaving = async (text: string): Promise<{ readonly saving: Promise<Saved> }> => {
      const { entries } = two.one;
      let saving: Promise<Saved> | undefined;
      await new Promise<void>((resolve) => {
        const claim: EntryStore['claim'] = async (...asked) => {
          const claimed = await entries.claim(...asked);
          if (claimed.state === 'done' && claimed.value === null) resolve();
          return claimed;
        };
        saving = save(start({ ...two.one, entries: { ...entries, claim } }), text);
        void saving.then(() => resolve());
      });
      return { saving: saving ?? expect.unreachable() };
    };
    const expectWhole = async (text: string): Promise<void> => {
      const entry = await readEntry();
      const { body } = draftOf(text, 0);
      expect(entry.bodies.identity.hash).toBe(hasher.bytes(body));
      for (const coding of ['identity', 'gzip', 'br'] as const) {
        if (entry.bodies[coding] === undefined) continue;
        const { state } = await two.one.bodies.read(ref, coding, entry.bodies);
        expect([coding, state]).toEqual([coding, 'found']);
      }
    };
    const spoil = async (): Promise<void> => {
      const other = Buffer.from('other bytes');
      await two.one.bodies.write(ref, { identity: other }, Number.MAX_SAFE_INTEGER);
      await two.one.bodies.forget(ref, (await readEntry()).bodies.identity);
    };
    const plant = async (text: string): Promise<void> => {
      const entry = await readEntry();
      await deleteEntry(two.one.entries, key);
      // What only looks like an entry: a store writes whatever it is given.
      await two.one.entries.put(key, { ...entry, ...JSON.parse(text) });
    };
    const upkeepOf = ({ journal, ...stores }: Process) => ({
      ...stores,
      usage: NO_USAGE,
      readPurges: async () => ({ end: journal.end(), judge: journal.judge }),
      // By this clock nothing was put in place a moment ago.
      clock: { now: () => Date.now() + HOUR_MS },
    });
    const removeItem = async (by: Process): Promise<void> => {
      const items = await by.inventory.read([key]);
      const [item] = items.state === 'done' ? items.value : [];
      if (item === undefined) return expect.unreachable();
      expect(await removePage(item, ref, upkeepOf(by))).toEqual({ state: 'done', value: true });
    };

    test.each<[name: string, drop: (by: Process) => Promise<unknown>, alarms: number]>([
      ['a purge', async (by) => by.pages.settlePurged(await append(by)), 0],
      [
        'a purge of what another version wrote',
        async (by) => {
          await plant('{"schema":2}');
          return by.pages.settlePurged(await append(by));
        },
        0,
      ],
      ['a withdrawal', (by) => by.pages.withdraw(key, ref, URL_A), 0],
      [
        'a read of a damaged body',
        async (by) => {
          await spoil();
          return by.pages.readBody(await readEntry(), 'identity');
        },
        1,
      ],
      [
        'a look-up of a damaged entry',
        async (by) => {
          await plant('{"status":0}');
          return by.pages.lookUp(key, ref, URL_A);
        },
        1,
      ],
      ['sweep and quota', removeItem, 0],
      [
        'the sweep of orphans',
        async (by) => {
          await deleteEntry(by.entries, key);
          return removeBodies(ref, Date.now() + HOUR_MS, upkeepOf(by));
        },
        0,
      ],
    ])('stored while bodies go for %s', async (_name, drop, alarms) => {
      const { bodies } = two.other;
      const saving: Promise<Saved>[] = [];
      const remove: BodyStore['delete'] = async (asked) => {
        if (saving.length === 0) saving.push((await beginSaving('second')).saving);
        return await bodies.delete(asked);
      };
      await drop(start({ ...two.other, bodies: { ...bodies, delete: remove } }));
      expect(await Promise.all(saving)).toMatchObject([{ stored: true }]);
      await expectWhole('second');
      expect(events).toHaveLength(alarms);
    });

    /** What the other process does between bodies and metadata of the first. */
    const saveAround = async (text: string, between: () => Promise<unknown>): Promise<Saved> => {
      const { bodies } = two.one;
      const write: BodyStore['write'] = async (...args) => {
        const written = await bodies.write(...args);
        await between();
        return written;
      };
      return await save(start({ ...two.one, bodies: { ...bodies, write } }), text);
    };

    test('a purge between its bodies and its metadata', async () => {
      const other = start(two.other);
      const record = await append(other);
      const settled: unknown[] = [];
      const saved = await saveAround('second', async () => {
        if (settled.length === 0) settled.push(await other.pages.settlePurged(record));
      });
      expect(saved).toMatchObject({ stored: true });
      expect(settled).toEqual([{ entries: 1, newer: 0, failure: null }]);
      await expectWhole('second');
    });

    test('read between its bodies and its metadata', async () => {
      const other = start(two.other);
      const first = await readEntry();
      const read: unknown[] = [];
      const saved = await saveAround('second', async () => {
        if (read.length === 0) read.push(await other.pages.readBody(first, 'identity'));
      });
      expect(saved).toMatchObject({ stored: true });
      // Files of an older version are found until it is forgotten; a hash of Redis has one version.
      const value = draftOf('first', 0).body;
      const isLeft = two.one.bodies.name === 'filesystem';
      expect(read).toEqual([
        isLeft ? { state: 'found', value } : { state: 'damaged', reason: 'replaced' },
      ]);
      await expectWhole('second');
      expect(events).toEqual([]);
    });

    test('stored by both at once', async () => {
      const { bodies } = two.other;
      const saving: Promise<Saved>[] = [];
      const write: BodyStore['write'] = async (...args) => {
        const written = await bodies.write(...args);
        if (saving.length === 0) saving.push((await beginSaving('third')).saving);
        return written;
      };
      await save(start({ ...two.other, bodies: { ...bodies, write } }), 'second');
      expect(await Promise.all(saving)).toMatchObject([{ stored: true }]);
      await expectWhole('third');
    });

    test('stored while codings of its older version are added', async () => {
      const { bodies } = two.other;
      const saving: Promise<Saved>[] = [];
      const write: BodyStore['write'] = async (...args) => {
        const hasCodings = args[1].br !== undefined;
        if (hasCodings && saving.length === 0) saving.push((await beginSaving('third')).saving);
        return await bodies.write(...args);
      };
      const other = start({ ...two.other, bodies: { ...bodies, write } });
      await save(other, 'second');
      await other.pages.drain();
      expect(await Promise.all(saving)).toMatchObject([{ stored: true }]);
      await expectWhole('third');
    });

    test.each<[name: string, act: (by: Process) => Promise<unknown>, outcome: unknown]>([
      [
        'purged',
        async (by) => by.pages.settlePurged(await append(by)),
        { entries: 0, newer: 1, failure: null },
      ],
      ['withdrawn', (by) => by.pages.withdraw(key, ref, URL_A), { state: 'done', value: false }],
    ])('stored after its older version was looked at to be %s', async (_name, act, outcome) => {
      const { entries } = two.other;
      let isStored = false;
      const get: EntryStore['get'] = async (asked) => {
        const found = await entries.get(asked);
        if (!isStored) {
          isStored = true;
          expect(await save(start(two.one), 'second')).toMatchObject({ stored: true });
        }
        return found;
      };
      expect(await act(start({ ...two.other, entries: { ...entries, get } }))).toEqual(outcome);
      await expectWhole('second');
    });
  });
}

/** Nobody counts. */
const NO_USAGE = {
  apply: async () => ({ state: 'done', value: undefined }) as const,
  countHosts: async () => ({ state: 'done', value: [] }) as const,
  listOldest: async () => ({ state: 'done', value: [] }) as const,
  list: async function* list() {
    yield { state: 'done', value: [] } as const;
  },
};
