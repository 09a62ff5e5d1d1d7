// Purges over each entry store, with the page stores of two processes: what holds when a purge has
// answered, whoever fetches, stores and looks up meanwhile.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import type { PurgeOrder, PurgeRecord, PurgeSelector } from '../../src/core/purge/purge-record.ts';
import type { BodyStore, Hasher } from '../../src/pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';
import { createDrafts, type MakeDraft } from './page-drafts.ts';
import { openBodyStore } from './stored-bodies.ts';
import { COLLISIONS, makeEntry } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const URL_A = 'https://example.com/a';
const ALL: PurgeSelector = { kind: 'all' };

interface Process {
  readonly journal: PurgeJournal;
  readonly pages: PageStore;
}

/** Runs the suite over one kind of entry store, with its purge log. */
export function describePurgedPages(
  name: string,
  openEntries: (clock: TestClock) => Promise<EntryStoreSubject>,
): void {
  describe(`purged pages over ${name}`, () => {
    let basePath: string;
    let clock: TestClock;
    let hasher: Hasher;
    let subject: EntryStoreSubject;
    let bodies: BodyStore;
    let one: Process;
    let other: Process;
    beforeEach(async () => {
      basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-purged-'));
      clock = createTestClock();
      hasher = await createHasher();
      subject = await openEntries(clock);
      bodies = await openBodyStore(basePath);
      one = start();
      other = start();
    });
    afterEach(async () => {
      await one.pages.drain();
      await other.pages.drain();
      await subject.dispose();
      rmSync(basePath, { recursive: true, force: true });
    });

    const start = (): Process => {
      const journal = createPurgeJournal(subject.purgeLog);
      const pages = createPageStore({
        entries: subject.store,
        bodies,
        journal,
        hasher,
        clock,
        memoryBytesMax: 1_000_000,
        onEvent: (event) => expect.unreachable(JSON.stringify(event)),
      });
      return { journal, pages };
    };
    const draft: MakeDraft = (url, fields) =>
      createDrafts(hasher, clock)(url, { since: one.journal.end(), ...fields });
    const refOf = (url: string, dimensionId: number, hostId = 1) => ({
      hostId,
      dimensionId,
      hash: hasher.text(url),
    });
    const save = async (url: string, fields: Partial<PageDraft> = {}) => {
      const saved = await one.pages.save(draft(url, fields));
      await one.pages.drain();
      return saved.stored ? 'stored' : saved.reason;
    };
    const lookUp = async (url: string, fields: Partial<PageDraft> = {}, by = other) => {
      const { key, ref } = draft(url, fields);
      const found = await by.pages.lookUp(key, ref, url);
      return found.state === 'hit' ? found.freshness : found.state;
    };
    const urlOf = (url: string): Extract<PurgeSelector, { readonly kind: 'url' }> => ({
      kind: 'url',
      url,
      keys: [0, 1, 2].map((id) => formatCacheKey(refOf(url, id))),
    });
    const order = (selector: PurgeSelector, more: Partial<PurgeOrder> = {}): PurgeOrder => ({
      selector,
      soft: false,
      undoes: null,
      ...more,
    });
    const append = async (what: PurgeOrder, by = one): Promise<PurgeRecord> => {
      const written = await by.journal.append(what);
      return written.state === 'done' ? written.value : expect.unreachable(written.reason);
    };
    const purge = async (what: PurgeOrder, by = one) => {
      const record = await append(what, by);
      const { failure, ...counts } = await by.pages.settlePurged(record);
      expect(failure).toBeNull();
      return { id: record.seq, ...counts };
    };
    const countFiles = (): number => {
      const folder = join(basePath, 'pages', '1');
      if (!existsSync(folder)) return 0;
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      return files.filter((file) => file.endsWith('.html')).length;
    };

    test('a page goes in all its dimensions, with its files, and nothing else', async () => {
      const another = 'https://example.com/b';
      await save(URL_A);
      await save(URL_A, { ref: refOf(URL_A, 2) });
      await save(URL_A, { ref: refOf(URL_A, 0) });
      await save(another);
      const url = order(urlOf(URL_A));
      expect(await one.pages.countPurged(url)).toEqual({ entries: 3, newer: 0, failure: null });
      expect(await lookUp(URL_A)).toBe('fresh');
      expect(await purge(url)).toMatchObject({ entries: 3 });
      expect(await lookUp(URL_A)).toBe('absent');
      expect(await purge(url)).toMatchObject({ entries: 0 });
      expect(await lookUp(another)).toBe('fresh');
      expect(countFiles()).toBe(1);
    });

    test('a page goes in a dimension that is configured no more', async () => {
      await save(URL_A, { ref: refOf(URL_A, 70) });
      await save('https://example.com/b', { ref: refOf('https://example.com/b', 70) });
      const url = order(urlOf(URL_A));
      expect(await other.pages.countPurged(url)).toEqual({ entries: 1, newer: 0, failure: null });
      expect(await purge({ ...url, soft: true }, other)).toMatchObject({ entries: 1 });
      expect(await purge(url, other)).toMatchObject({ entries: 1 });
      expect(countFiles()).toBe(1);
    });

    test('a page goes with its variants, whatever their keys are', async () => {
      const hashes = ['a', 'b'].map((name) => hasher.text(name));
      await save(URL_A, {
        ref: refOf(URL_A, 0),
        variants: { names: ['accept-language'], generation: 1, hashes },
      });
      for (const hash of hashes) {
        const exchange = { headers: [], initialAgeMs: 0, selecting: [] };
        await save(URL_A, { ref: { hostId: 1, dimensionId: 0, hash }, headers: [], exchange });
      }
      expect(await purge(order(urlOf(URL_A)))).toMatchObject({ entries: 3 });
    });

    test.each<[name: string, selector: PurgeSelector, left: string[]]>([
      ['pattern', { kind: 'pattern', pattern: '/news/*', hostId: null }, ['/', '/new']],
      ['pattern of a host', { kind: 'pattern', pattern: '*', hostId: 2 }, ['/', '/news/1', '/new']],
      ['tag', { kind: 'tag', tag: 'x', hostId: null }, ['/', '/news/1']],
      ['tag of a host', { kind: 'tag', tag: 'x', hostId: 1 }, ['/', '/news/1', '2:/news/1']],
      ['host', { kind: 'host', hostId: 1 }, ['2:/news/1']],
      ['all', ALL, []],
    ])('by %s', async (_name, selector, left) => {
      const pages = ['/', '/news/1', '/new', '2:/news/1'];
      const tagged: Readonly<Record<string, readonly string[]>> = {
        '/new': ['y', 'x'],
        '2:/news/1': ['x'],
        '/': ['xx'],
      };
      const place = (page: string): [url: string, fields: Partial<PageDraft>] => {
        const url = `https://example.com${page.replace('2:', '')}`;
        const ref = refOf(url, 7, page.startsWith('2:') ? 2 : 1);
        return [url, { ref, tags: tagged[page] ?? [] }];
      };
      for (const page of pages) await save(...place(page));
      const expected = { entries: pages.length - left.length, newer: 0, failure: null };
      const counted = await other.pages.countPurged(order(selector));
      const { entries } = await purge(order(selector));
      const found = [];
      for (const page of pages) if ((await lookUp(...place(page))) === 'fresh') found.push(page);
      expect({ counted, entries, found: found.toSorted() }).toEqual({
        counted: expected,
        entries: expected.entries,
        found: left.toSorted(),
      });
    });

    test('thousands of pages, also those that another version wrote', async () => {
      const count = 1_100;
      const urls = Array.from({ length: count }, (_, i) => `https://example.com/${i}`);
      for (let i = 0; i < count; i += 50) {
        await Promise.all(urls.slice(i, i + 50).map((url) => save(url)));
      }
      const foreign = { hostId: 1, dimensionId: 1, hash: '0'.repeat(16) };
      await subject.plant(formatCacheKey(foreign), '{"schema":2}');
      await save(URL_A, { ref: refOf(URL_A, 1, 2) });
      const host = order({ kind: 'host', hostId: 1 });
      expect(await one.pages.countPurged(host)).toMatchObject({ entries: count });
      const soft = await purge({ ...host, soft: true });
      expect(soft.entries).toBe(count);
      expect(await purge(order(host.selector, { soft: true, undoes: soft.id }))).toMatchObject({
        entries: count,
      });
      expect(await purge(host)).toMatchObject({ entries: count + 1 });
      expect(await purge(host)).toMatchObject({ entries: 0 });
      expect(await lookUp(URL_A, { ref: refOf(URL_A, 1, 2) })).toBe('fresh');
    }, 60_000);

    test('holds before anything was deleted, and in every process', async () => {
      await save(URL_A);
      expect(await lookUp(URL_A, {}, one)).toBe('fresh');
      expect(await lookUp(URL_A, {}, other)).toBe('fresh');
      const record = await append(order(urlOf(URL_A)), one);
      expect(await subject.readRaw(draft(URL_A).key)).not.toBeNull();
      expect(other.pages.peek(draft(URL_A).key, URL_A)).toBeNull();
      expect(await lookUp(URL_A, {}, other)).toBe('absent');
      expect(await lookUp(URL_A, {}, one)).toBe('absent');
      // What is got now is newer.
      expect(await save(URL_A)).toBe('stored');
      expect(await lookUp(URL_A, {}, other)).toBe('fresh');
      expect(await other.pages.settlePurged(record)).toMatchObject({ entries: 0 });
      expect(await lookUp(URL_A, {}, one)).toBe('fresh');
    });

    test.each([false, true])('wins over a fetch that began before it (soft: %s)', async (soft) => {
      const before = { since: one.journal.end(), tags: ['t'] };
      for (const selector of [
        urlOf(URL_A),
        { kind: 'tag', tag: 't', hostId: null } as const,
        ALL,
      ]) {
        await purge(order(selector, { soft }), other);
        expect(await save(URL_A, before)).toBe('purged');
        expect(await lookUp(URL_A)).toBe('absent');
      }
      await purge(order(urlOf('https://example.com/b')), other);
      expect(await save(URL_A, { tags: ['t'] })).toBe('stored');
    });

    test('wins over a page that is just being written', async () => {
      const written = bodies.write;
      const slow: BodyStore = {
        ...bodies,
        write: async (...args) => {
          const done = await written(...args);
          await purge(order(ALL), other);
          return done;
        },
      };
      const { journal } = one;
      const pages = createPageStore({
        entries: subject.store,
        bodies: slow,
        journal,
        hasher,
        clock,
        memoryBytesMax: 0,
        onEvent: () => undefined,
      });
      expect(await pages.save(draft(URL_A))).toMatchObject({ stored: false, reason: 'purged' });
      expect(await subject.readRaw(draft(URL_A).key)).toBeNull();
      expect(countFiles()).toBe(0);
    });

    test('what knows of purges that were never written is of another store', async () => {
      await save(URL_A);
      expect(await save(URL_A, { since: one.journal.end() + 1 })).toBe('purged');
      const entry = makeEntry(
        { ...draft(URL_A).ref, url: URL_A, since: one.journal.end() + 1 },
        clock.now(),
      );
      await subject.store.put(draft(URL_A).key, entry);
      expect(await lookUp(URL_A)).toBe('absent');
    });

    test('a soft purge marks stale; taken back, the page is as fresh as before', async () => {
      await save(URL_A);
      const stored = await subject.readRaw(draft(URL_A).key);
      const first = await purge(order(urlOf(URL_A), { soft: true }));
      expect(first.entries).toBe(1);
      expect(await lookUp(URL_A)).toBe('stale');
      clock.advance(1_000);
      const second = await purge(order(ALL, { soft: true }), other);
      expect(second.entries).toBe(1);
      const undo = (id: number, selector: PurgeSelector) =>
        purge(order(selector, { soft: true, undoes: id }));
      expect(await undo(second.id, ALL)).toMatchObject({ entries: 0 });
      expect(await lookUp(URL_A)).toBe('stale');
      expect(await one.pages.countPurged(order(urlOf(URL_A), { undoes: first.id }))).toMatchObject({
        entries: 1,
      });
      expect(await undo(first.id, urlOf(URL_A))).toMatchObject({ entries: 1 });
      expect(await lookUp(URL_A)).toBe('fresh');
      expect(await subject.readRaw(draft(URL_A).key)).toBe(stored);
    });

    test('what was renewed since a soft purge stays as it is when that is taken back', async () => {
      await save(URL_A);
      const { id } = await purge(order(ALL, { soft: true }));
      clock.advance(1_000);
      await save(URL_A);
      const renewed = await subject.readRaw(draft(URL_A).key);
      expect(await purge(order(ALL, { soft: true, undoes: id }))).toMatchObject({ entries: 0 });
      expect(await subject.readRaw(draft(URL_A).key)).toBe(renewed);
    });

    test('in one dimension: what is stored, and what is on its way to any process', async () => {
      const passedOn = { ref: refOf(URL_A, 0) };
      const selector = { ...urlOf(URL_A), dimensionId: 0 };
      for (const by of [one, other]) {
        await by.journal.catchUp();
        const since = by.journal.end();
        await save(URL_A);
        await save(URL_A, passedOn);
        expect(await lookUp(URL_A, passedOn, by)).toBe('fresh');
        await append(order(selector), one);
        expect(await lookUp(URL_A, passedOn, by)).toBe('absent');
        expect(await by.pages.save(draft(URL_A, { ...passedOn, since }))).toMatchObject({
          stored: false,
          reason: 'purged',
        });
        expect(await lookUp(URL_A, {}, by)).toBe('fresh');
        expect(await purge(order(selector))).toMatchObject({ entries: 1 });
        expect(await lookUp(URL_A, {}, by)).toBe('fresh');
      }
    });

    test.each(COLLISIONS)('$name: of two pages with one key only that one goes', async (pair) => {
      await save(pair.first, { ref: { hostId: 1, dimensionId: 1, hash: pair.hash } });
      expect(await purge(order(urlOf(pair.second)))).toMatchObject({ entries: 0 });
      expect(await lookUp(pair.first)).toBe('fresh');
      // What has gone gives way also where it is still there.
      await append(order(urlOf(pair.first)));
      expect(await save(pair.second)).toBe('stored');
    });

    test('a store that can’t be asked', async () => {
      await save(URL_A);
      const record = await append(order(ALL));
      await subject.store.close();
      const { failure } = await one.pages.settlePurged(record);
      expect(failure).toEqual(expect.any(String));
      expect(await lookUp(URL_A)).toBe('unavailable');
      expect(await save(URL_A)).toBe('unavailable');
      expect(await one.journal.append(order(ALL))).toMatchObject({ state: 'unavailable' });
    });
  });
}
