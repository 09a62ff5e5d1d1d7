// The page store over each entry store, with bodies in files: what the phases rely on.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { Entry } from '../../src/pipeline/ports.ts';
import { createPurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import type { PageStoreEvent, PageStoreParts } from '../../src/pipeline/store/page-store-deps.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';
import { createDrafts, type MakeDraft } from './page-drafts.ts';
import { makeBodies } from './stored-bodies.ts';
import { COLLISIONS, HOUR_MS } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const URL_A = 'https://example.com/a';
const NOT_STORED = { stored: false, reason: 'unavailable' };

/** Runs the page store's suite over one kind of entry store. */
export function describePageStore(
  name: string,
  openEntries: (clock: TestClock) => Promise<EntryStoreSubject>,
): void {
  describe(`page store over ${name}`, () => {
    let basePath: string;
    let clock: TestClock;
    let subject: EntryStoreSubject;
    let deps: PageStoreParts;
    let events: PageStoreEvent[];
    let pages: PageStore;
    let draft: MakeDraft;
    beforeEach(async () => {
      basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-pages-'));
      clock = createTestClock();
      subject = await openEntries(clock);
      const hasher = await createHasher();
      events = [];
      deps = {
        entries: subject.store,
        journal: createPurgeJournal(subject.purgeLog),
        bodies: await createFileBodyStore({ basePath, hasher, clock, onWarning: () => undefined }),
        hasher,
        clock,
        memoryBytesMax: 0,
        onEvent: (event) => void events.push(event),
      };
      pages = createPageStore(deps);
      draft = createDrafts(hasher, clock);
    });
    afterEach(async () => {
      await subject.dispose();
      rmSync(basePath, { recursive: true, force: true });
    });

    const save = async (url: string, fields: Partial<PageDraft> = {}): Promise<Entry> => {
      const saved = await pages.save(draft(url, fields));
      if (!saved.stored) throw new Error(JSON.stringify(saved));
      await pages.drain();
      const found = await lookUp(url, fields);
      return found.state === 'hit' ? found.entry : saved.entry;
    };
    const lookUp = (url: string, fields: Partial<PageDraft> = {}) => {
      const { key, ref } = draft(url, fields);
      return pages.lookUp(key, ref, url);
    };
    const withdraw = (url: string) => {
      const { key, ref } = draft(url);
      return pages.withdraw(key, ref, url);
    };
    const filesOf = (entry: Entry): string[] => {
      const folder = join(basePath, 'pages', String(entry.hostId), entry.hash.slice(0, 2));
      const names = existsSync(folder) ? readdirSync(folder) : [];
      return names.filter((file) => file.startsWith(entry.hash)).map((file) => join(folder, file));
    };
    const spoilBody = (entry: Entry, bytes: Buffer): void => {
      writeFileSync(filesOf(entry).find((file) => file.endsWith('.html')) ?? '', bytes);
    };

    test('a page goes in and comes out: metadata, and its body in every coding', async () => {
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'absent' });
      const entry = await save(URL_A);
      expect(await lookUp(URL_A)).toEqual({ state: 'hit', entry, freshness: 'fresh' });
      const { body } = draft(URL_A);
      const zipped = await pages.readBody(entry, 'gzip');
      const brotlied = await pages.readBody(entry, 'br');
      expect(await pages.readBody(entry, 'identity')).toEqual({ state: 'found', value: body });
      expect(zipped.state === 'found' && gunzipSync(zipped.value).equals(body)).toBe(true);
      expect(brotlied.state === 'found' && brotliDecompressSync(brotlied.value).equals(body)).toBe(
        true,
      );
      expect(events).toEqual([]);
    });

    test.each<[name: string, type: string | null, body: Buffer, codings: string[]]>([
      ['HTML', 'text/html', Buffer.alloc(5_000, 97), ['br', 'gzip', 'identity']],
      ['JSON', 'application/ld+json', Buffer.alloc(5_000, 97), ['br', 'gzip', 'identity']],
      ['SVG', 'image/svg+xml', Buffer.alloc(5_000, 97), ['br', 'gzip', 'identity']],
      ['little HTML', 'text/html', Buffer.alloc(1_023, 97), ['identity']],
      ['empty', 'text/html', Buffer.alloc(0), ['identity']],
      ['a picture', 'image/png', Buffer.alloc(5_000, 97), ['identity']],
      ['of no type', null, Buffer.alloc(5_000, 97), ['identity']],
    ])('%s is compressed once, when it pays', async (_name, type, body, codings) => {
      const headers = type === null ? [] : [['Content-Type', type] as const];
      const entry = await save(URL_A, { headers, body });
      expect(Object.keys(entry.bodies).sort()).toEqual(codings);
      expect(filesOf(entry)).toHaveLength(codings.length);
      expect(await pages.readBody(entry, 'identity')).toEqual({ state: 'found', value: body });
    });

    test('a page is there before its codings, which change nothing else about it', async () => {
      const saved = await pages.save(draft(URL_A));
      if (!saved.stored) throw new Error(saved.detail);
      expect(Object.keys(saved.entry.bodies)).toEqual(['identity']);
      expect(await lookUp(URL_A)).toMatchObject({ state: 'hit', entry: { url: URL_A } });
      expect(await pages.readBody(saved.entry, 'identity')).toMatchObject({ state: 'found' });
      await pages.drain();
      const found = await lookUp(URL_A);
      if (found.state !== 'hit') throw new Error(found.state);
      const { identity, ...codings } = found.entry.bodies;
      expect(found.entry).toEqual({ ...saved.entry, bodies: { identity, ...codings } });
      expect(Object.keys(codings).sort()).toEqual(['br', 'gzip']);
      expect(await pages.readBody(saved.entry, 'identity')).toMatchObject({ state: 'found' });
    });

    test('codings are taken over from a page with the same bytes', async () => {
      const body = makeBodies('same').identity;
      const first = await save(URL_A, { body });
      const saved = await pages.save(draft(`${URL_A}?b`, { body }));
      expect(saved).toMatchObject({ stored: true, entry: { bodies: first.bodies } });
    });

    test('a page that is purged before its codings are made does not come back', async () => {
      for (let i = 0; i < 20; i += 1) {
        await pages.save(draft(URL_A, { body: makeBodies(`version ${i}`).identity }));
        await withdraw(URL_A);
        await pages.drain();
        expect(await lookUp(URL_A)).toMatchObject({ state: 'absent' });
      }
    });

    test('one that is replaced before that keeps its own codings', async () => {
      for (let i = 0; i < 20; i += 1) {
        const body = makeBodies(`next ${i}`).identity;
        clock.advance(1);
        const first = pages.save(draft(URL_A, { body: makeBodies(`version ${i}`).identity }));
        clock.advance(1);
        await Promise.all([first, pages.save(draft(URL_A, { body }))]);
        await pages.drain();
        const found = await lookUp(URL_A);
        if (found.state !== 'hit') throw new Error(found.state);
        const zipped = await pages.readBody(found.entry, 'gzip');
        const brotlied = await pages.readBody(found.entry, 'br');
        expect(zipped.state === 'found' && gunzipSync(zipped.value).equals(body)).toBe(true);
        const plain = brotlied.state === 'found' && brotliDecompressSync(brotlied.value);
        expect(plain && plain.equals(body)).toBe(true);
      }
      expect(events).toEqual([]);
    });

    test('fresh, then stale, then gone', async () => {
      await save(URL_A);
      clock.advance(HOUR_MS - 1);
      expect(await lookUp(URL_A)).toMatchObject({ freshness: 'fresh' });
      clock.advance(1);
      expect(await lookUp(URL_A)).toMatchObject({ freshness: 'stale' });
      clock.advance(HOUR_MS);
      expect(await lookUp(URL_A)).toMatchObject({ state: 'absent' });
    });

    test('an entry that expires on the way from the store is not a hit', async () => {
      const entry = await save(URL_A);
      const later = { now: () => entry.deleteAt };
      const { key, ref } = draft(URL_A);
      expect(await createPageStore({ ...deps, clock: later }).lookUp(key, ref, URL_A)).toEqual({
        state: 'absent',
        reason: 'expired',
      });
    });

    test('modifiedAt stays while the bytes stay', async () => {
      const first = await save(URL_A);
      clock.advance(1_000);
      const second = await save(URL_A);
      expect(second).toMatchObject({ modifiedAt: first.cachedAt, cachedAt: clock.now() });
      clock.advance(1_000);
      const third = await save(URL_A, { body: Buffer.from('other') });
      expect(third.modifiedAt).toBe(clock.now());
    });

    test.each(COLLISIONS)('$name: never answers for the other URL', async (pair) => {
      const entry = await save(pair.first);
      const { key } = draft(pair.first);
      expect(draft(pair.second).key).toBe(key);
      expect(await lookUp(pair.second)).toEqual({ state: 'absent', reason: 'collision' });
      expect(await pages.save(draft(pair.second))).toMatchObject({
        stored: false,
        reason: 'collision',
      });
      expect(await withdraw(pair.second)).toEqual({ state: 'done', value: false });
      expect(await lookUp(pair.first)).toEqual({ state: 'hit', entry, freshness: 'fresh' });
      expect(await pages.readBody(entry, 'identity')).toMatchObject({ state: 'found' });
      const collision = { kind: 'collision', key, url: pair.second };
      expect(events).toEqual([collision, collision]);
    });

    test.each(COLLISIONS)('$name: a stale page gives way', async (pair) => {
      await save(pair.first);
      clock.advance(HOUR_MS);
      const second = await save(pair.second);
      expect(await lookUp(pair.second)).toMatchObject({ state: 'hit' });
      expect(await pages.readBody(second, 'identity')).toEqual({
        state: 'found',
        value: draft(pair.second).body,
      });
      expect(await lookUp(pair.first)).toEqual({ state: 'absent', reason: 'collision' });
    });

    test('two URLs of one hash saved at once: each body is its own page’s or none', async () => {
      const [pair] = COLLISIONS;
      for (let round = 0; round < 10; round += 1) {
        await Promise.all([pages.save(draft(pair.first)), pages.save(draft(pair.second))]);
        for (const url of [pair.first, pair.second]) {
          const found = await lookUp(url);
          if (found.state !== 'hit') continue;
          const body = await pages.readBody(found.entry, 'identity');
          const isOwn = body.state !== 'found' || body.value.equals(draft(url).body);
          expect([url, isOwn]).toEqual([url, true]);
        }
        await withdraw(pair.first);
        await withdraw(pair.second);
      }
    });

    test('what is withdrawn goes with its files, and nothing else', async () => {
      const other = { ref: { hostId: 1, dimensionId: 2, hash: deps.hasher.text(URL_A) } };
      const entry = await save(URL_A, { ref: { ...other.ref, dimensionId: 12 } });
      await save(URL_A);
      await save(URL_A, other);
      expect(await withdraw(URL_A)).toEqual({ state: 'done', value: true });
      expect(await lookUp(URL_A)).toMatchObject({ state: 'absent' });
      expect(await withdraw(URL_A)).toEqual({ state: 'done', value: false });
      expect(await lookUp(URL_A, other)).toMatchObject({ state: 'hit' });
      expect(filesOf(entry)).toHaveLength(6);
    });

    test.each<[name: string, reason: string, bytes: (body: Buffer) => Buffer]>([
      ['zeros', 'wrong_hash', (body) => Buffer.alloc(body.length)],
      ['cut', 'wrong_length', (body) => body.subarray(1)],
      ['that of another page', 'wrong_length', () => makeBodies('https://example.com/b').gzip],
    ])('a body that is %s is never served and the page is rebuilt', async (_name, reason, make) => {
      const entry = await save(URL_A);
      spoilBody(entry, make(draft(URL_A).body));
      expect(await pages.readBody(entry, 'identity')).toEqual({ state: 'damaged', reason });
      expect(events).toEqual([{ kind: 'body_damaged', key: draft(URL_A).key, url: URL_A, reason }]);
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'absent' });
      expect(filesOf(entry)).toEqual([]);
      expect(await pages.readBody(await save(URL_A), 'identity')).toMatchObject({ state: 'found' });
    });

    test('metadata whose file is gone is dropped', async () => {
      const entry = await save(URL_A);
      for (const file of filesOf(entry)) rmSync(file);
      expect(await pages.readBody(entry, 'br')).toEqual({ state: 'damaged', reason: 'missing' });
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'absent' });
    });

    test('a damaged entry is a miss, told, and its body goes', async () => {
      const entry = await save(URL_A);
      const { key } = draft(URL_A);
      await subject.plant(key, '{"schema":1}');
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'damaged' });
      expect(events).toMatchObject([{ kind: 'entry_damaged', key }]);
      expect(filesOf(entry)).toEqual([]);
    });

    test('a version that was replaced since is not damage', async () => {
      const old = await save(URL_A);
      clock.advance(1);
      await save(URL_A, { body: Buffer.from('new') });
      const replaced = { state: 'damaged', reason: 'replaced' };
      expect(await pages.readBody(old, 'identity')).toEqual(replaced);
      expect(await pages.readBody(old, 'gzip')).toEqual(replaced);
      expect(await lookUp(URL_A)).toMatchObject({ state: 'hit' });
      expect(events).toEqual([]);
    });

    test('a version that is just being replaced is not damage either', async () => {
      const old = await save(URL_A);
      clock.advance(1);
      const next = await save(URL_A, { body: Buffer.from('new') });
      const { key } = draft(URL_A);
      await subject.store.put(key, old);
      const get: typeof subject.store.get = async (asked) => {
        const found = await subject.store.get(asked);
        await subject.store.put(key, next);
        return found;
      };
      const reader = createPageStore({ ...deps, entries: { ...subject.store, get } });
      expect(await reader.readBody(old, 'identity')).toEqual({
        state: 'damaged',
        reason: 'replaced',
      });
      expect(await lookUp(URL_A)).toMatchObject({ entry: next });
      expect(events).toEqual([]);
    });

    test.each<[name: string, fields: Partial<PageDraft>, detail: string]>([
      ['a header that splits', { headers: [['x', 'a\r\nb: c']] }, 'bad_header_value'],
      ['framing', { headers: [['Transfer-Encoding', 'chunked']] }, 'refused_header'],
      ['no status', { status: 0 }, 'bad_status'],
      ['times in disorder', { staleAt: 1 }, 'bad_time_order'],
      ['expired already', { cachedAt: 1, staleAt: 2, deleteAt: 3 }, 'expired'],
    ])('%s is not stored', async (_name, fields, detail) => {
      expect(await pages.save(draft(URL_A, fields))).toEqual({
        stored: false,
        reason: 'invalid',
        detail,
      });
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'absent' });
      expect(readdirSync(join(basePath, 'pages'))).toEqual([]);
      expect(events).toMatchObject([{ kind: 'entry_refused', reason: detail }]);
    });

    test('times with fractions are stored in whole milliseconds', async () => {
      const entry = await save(URL_A, { staleAt: clock.now() + 1_000.4 });
      expect(entry.staleAt).toBe(clock.now() + 1_000);
    });

    test('a disk that fails: not stored, no entry without a body', async () => {
      writeFileSync(join(basePath, 'pages', '1'), 'in the way');
      expect(await pages.save(draft(URL_A))).toMatchObject(NOT_STORED);
      expect(await lookUp(URL_A)).toEqual({ state: 'absent', reason: 'absent' });
    });

    test('a store that is gone is unavailable, never a miss', async () => {
      const entry = await save(URL_A);
      rmSync(filesOf(entry)[0] ?? '');
      await subject.store.close();
      const unavailable = { state: 'unavailable' };
      expect(await lookUp(URL_A)).toMatchObject(unavailable);
      expect(await pages.readBody(entry, 'identity')).toMatchObject(unavailable);
      expect(await withdraw(URL_A)).toMatchObject(unavailable);
      expect(await pages.save(draft(URL_A))).toMatchObject(NOT_STORED);
    });
  });
}
