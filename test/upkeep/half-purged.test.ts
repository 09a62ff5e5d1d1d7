// Purges that end half-way, over both stores: a sweep carries them on, so that what they mean is not
// as it was again once the log has forgotten them. Looked at is what is stored, without the log.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { freshnessAt } from '../../src/core/http/freshness.ts';
import { countEntryBytes } from '../../src/core/key/entry-bytes.ts';
import type { PurgeOrder } from '../../src/core/purge/purge-record.ts';
import type { Entry, EntryStore, Hasher } from '../../src/pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import { sweepStore } from '../../src/pipeline/upkeep/sweep-store.ts';
import type { UpkeepDeps } from '../../src/pipeline/upkeep/upkeep-deps.ts';
import { openRedisPair } from '../contract/open-redis-stores.ts';
import { createDrafts } from '../contract/page-drafts.ts';
import { createTestClock, type TestClock } from '../contract/test-clock.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { makeFolder, NO_PACE, openStore, removeFolder, valueOf } from './stored-store.ts';

interface Subject {
  readonly deps: UpkeepDeps;
  readonly journal: PurgeJournal;
  readonly dispose: () => Promise<void>;
}

const PAGES = 10;
/** How many entries a purge gets to. */
const REACHED = 3;
const URLS = Array.from({ length: PAGES }, (_, i) => `https://example.com/${i}`);
const NEWER = 'https://example.com/newer';

const SOFT: PurgeOrder = { selector: { kind: 'all' }, soft: true, undoes: null };
const HARD: PurgeOrder = { ...SOFT, soft: false };

function describeHalfPurged(name: string, open: (clock: TestClock) => Promise<Subject>): void {
  describe(`purges that end half-way: ${name}`, () => {
    let clock: TestClock;
    let hasher: Hasher;
    let subject: Subject;
    beforeEach(async () => {
      clock = createTestClock();
      hasher = await createHasher();
      subject = await open(clock);
      for (const url of URLS) await save(url);
      clock.advance(1_000);
    });
    afterEach(() => subject.dispose());

    const pagesOver = (entries: EntryStore): PageStore =>
      createPageStore({
        entries,
        bodies: subject.deps.bodies,
        journal: subject.journal,
        hasher,
        clock,
        memoryBytesMax: 0,
        onEvent: (event) => expect.unreachable(JSON.stringify(event)),
      });
    const draft = (url: string) =>
      createDrafts(hasher, clock)(url, { since: subject.journal.end() });
    const save = async (url: string): Promise<void> => {
      const pages = pagesOver(subject.deps.entries);
      expect(await pages.save(draft(url))).toMatchObject({ stored: true });
      await pages.drain();
    };
    const readEntry = async (url: string): Promise<Entry | null> => {
      const found = await subject.deps.entries.get(draft(url).key);
      return found.state === 'found' ? found.value : null;
    };
    const look = async (url: string): Promise<string> => {
      const entry = await readEntry(url);
      return entry === null ? 'gone' : freshnessAt(entry, clock.now());
    };
    const census = async (): Promise<Record<string, number>> => {
      const counts: Record<string, number> = {};
      for (const state of await Promise.all(URLS.map(look))) {
        counts[state] = (counts[state] ?? 0) + 1;
      }
      return counts;
    };
    const purge = async (order: PurgeOrder, entries = subject.deps.entries) => {
      const record = valueOf(await subject.journal.append(order));
      return { id: record.seq, ...(await pagesOver(entries).settlePurged(record)) };
    };
    /** By a process that comes to an end on its way. */
    const purgeHalf = async (order: PurgeOrder): Promise<number> => {
      const { id, failure } = await purge(order, endAfter(REACHED, subject.deps.entries));
      expect(failure).toBe('ended');
      return id;
    };
    const sweep = async (deps = subject.deps) => {
      const { removed, settled, stoppedBy } = await sweepStore(deps, NO_PACE);
      expect(stoppedBy).toBeNull();
      return { removed: Object.fromEntries(removed), settled };
    };

    test('a soft one: nothing of it stays fresh, and what is newer does', async () => {
      await purgeHalf(SOFT);
      await save(NEWER);
      expect(await census()).toEqual({ stale: REACHED, fresh: PAGES - REACHED });
      expect(await sweep()).toEqual({ removed: {}, settled: PAGES - REACHED });
      expect(await census()).toEqual({ stale: PAGES });
      expect(await look(NEWER)).toBe('fresh');
      expect(await sweep()).toEqual({ removed: {}, settled: 0 });
    });

    test('a soft one that is taken back after the sweep: as fresh as before', async () => {
      const before = await Promise.all(URLS.map(readEntry));
      const undoes = await purgeHalf(SOFT);
      await sweep();
      expect(await purge({ ...SOFT, undoes })).toMatchObject({ entries: PAGES, failure: null });
      expect(await Promise.all(URLS.map(readEntry))).toEqual(before);
    });

    test('one that takes a soft one back: what it did not get to is fresh again', async () => {
      const before = await Promise.all(URLS.map(readEntry));
      const { id: undoes } = await purge(SOFT);
      expect(await census()).toEqual({ stale: PAGES });
      await purgeHalf({ ...SOFT, undoes });
      expect(await census()).toEqual({ fresh: REACHED, stale: PAGES - REACHED });
      expect(await sweep()).toEqual({ removed: {}, settled: PAGES - REACHED });
      expect(await Promise.all(URLS.map(readEntry))).toEqual(before);
    });

    test('a hard one: what it did not get to goes', async () => {
      await purgeHalf(HARD);
      await save(NEWER);
      expect(await sweep()).toEqual({ removed: { purged: PAGES - REACHED }, settled: 0 });
      expect(await census()).toEqual({ gone: PAGES });
      expect(await look(NEWER)).toBe('fresh');
    });

    test('a page that is got anew while the sweep looks at it stays fresh', async () => {
      await purgeHalf(SOFT);
      const { inventory } = subject.deps;
      const read = async (keys: readonly string[]) => {
        const items = await inventory.read(keys);
        for (const url of URLS) await save(url);
        return items;
      };
      const deps = { ...subject.deps, inventory: { ...inventory, read } };
      expect(await sweep(deps)).toEqual({ removed: {}, settled: 0 });
      expect(await census()).toEqual({ fresh: PAGES });
    });

    test('the usage book knows how much is stored afterwards', async () => {
      await purgeHalf(SOFT);
      await sweep();
      const entries = await Promise.all(URLS.map(readEntry));
      const bytes = entries.reduce((sum, entry) => sum + (entry ? countEntryBytes(entry) : 0), 0);
      const hosts = valueOf(await subject.deps.usage.countHosts());
      expect(hosts).toEqual([{ hostId: 1, entries: PAGES, bytes }]);
    });
  });
}

/** A store that changes so many entries, and is not to be had any more. */
function endAfter(count: number, entries: EntryStore): EntryStore {
  let changed = 0;
  const isOver = (): boolean => {
    changed += 1;
    return changed > count;
  };
  const ENDED = { state: 'unavailable', reason: 'ended' } as const;
  return {
    ...entries,
    replace: async (...args) => (isOver() ? ENDED : await entries.replace(...args)),
    delete: async (...args) => (isOver() ? ENDED : await entries.delete(...args)),
  };
}

describeHalfPurged('embedded', async (clock) => {
  const { basePath, deps, journal, close } = await openStore(makeFolder(), clock);
  return {
    deps,
    journal,
    dispose: async () => {
      await close();
      removeFolder(basePath);
    },
  };
});

describeWithRedis('half-purged', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeHalfPurged('redis', async (clock) => {
    const { ours, dispose } = await openRedisPair(server.url, { clock });
    const { entries, inventory, bodies, usage, purgeLog } = ours;
    if (bodies === null) throw new Error('bodies are in Redis here');
    const journal = createPurgeJournal(purgeLog);
    const readPurges = async () => {
      valueOf(await journal.catchUp());
      return { end: journal.end(), judge: journal.judge };
    };
    const deps = { entries, inventory, bodies, files: null, usage, readPurges, clock };
    return { deps, journal, dispose };
  });
});
