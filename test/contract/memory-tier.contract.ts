// The memory tier over one kind of entry store, seen from two processes' page stores: what the one
// holds is never older than what the other has stored.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyStore, EntryStore, Hasher, PurgeLog } from '../../src/pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import type { PeekedPage } from '../../src/pipeline/store/peek-page.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { createDrafts } from './page-drafts.ts';
import { makeBodies, openBodyStore } from './stored-bodies.ts';
import { COLLISIONS, HOUR_MS } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const MIB = 1024 * 1024;
const URL_A = 'https://example.com/a';

/** One process's access to a store. */
export interface StoreClient {
  readonly entries: EntryStore;
  readonly purgeLog: PurgeLog;
}

/** Two processes on one store. */
export interface TwoClients {
  readonly ours: StoreClient;
  readonly others: StoreClient;
  readonly dispose: () => Promise<void>;
}

interface Process {
  readonly pages: PageStore;
  readonly journal: PurgeJournal;
}

export function describeMemoryTier(
  name: string,
  open: (clock: TestClock) => Promise<TwoClients>,
): void {
  describe(`memory tier over ${name}`, () => {
    let basePath: string;
    let clock: TestClock;
    let hasher: Hasher;
    let clients: TwoClients;
    let bodies: BodyStore;
    let reads: string[];
    let ours: Process;
    let others: Process;
    beforeEach(async () => {
      basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-memory-'));
      clock = createTestClock();
      hasher = await createHasher();
      clients = await open(clock);
      reads = [];
      const files = await openBodyStore(basePath);
      bodies = {
        ...files,
        read: (ref, coding, digest) => {
          reads.push(coding);
          return files.read(ref, coding, digest);
        },
      };
      ours = start(clients.ours);
      others = start(clients.others);
    });
    afterEach(async () => {
      await clients.dispose();
      rmSync(basePath, { recursive: true, force: true });
    });

    const start = (client: StoreClient, memoryBytesMax = 8 * MIB): Process => {
      const journal = createPurgeJournal(client.purgeLog);
      const pages = createPageStore({
        entries: client.entries,
        journal,
        bodies,
        hasher,
        clock,
        memoryBytesMax,
        onEvent: () => undefined,
      });
      return { pages, journal };
    };
    const draft = (url: string, text = url): PageDraft =>
      createDrafts(hasher, clock)(url, { body: makeBodies(text).identity });
    const save = async ({ pages, journal }: Process, url: string, text = url): Promise<void> => {
      clock.advance(1);
      expect((await journal.catchUp()).state).toBe('done');
      const saved = await pages.save({ ...draft(url, text), since: journal.end() });
      expect(saved).toMatchObject({ stored: true });
      await pages.drain();
    };
    const lookUp = ({ pages }: Process, url: string) => {
      const { key, ref } = draft(url);
      return pages.lookUp(key, ref, url);
    };
    /** Ordered, and not yet carried out. */
    const purge = async ({ journal }: Process, url: string, soft: boolean): Promise<void> => {
      const selector = { kind: 'url', url, keys: [draft(url).key] } as const;
      const done = await journal.append({ selector, soft, undoes: null });
      expect(done.state).toBe('done');
    };
    const peek = (url: string, { pages } = ours) => pages.peek(draft(url).key, url);
    /** The body a client would get. */
    const serve = async (process: Process, url: string): Promise<string | null> => {
      const found = await lookUp(process, url);
      if (found.state !== 'hit') return null;
      const body = await process.pages.readBody(found.entry, 'identity');
      return body.state === 'found' ? body.value.toString() : null;
    };
    const textOf = (text: string): string => makeBodies(text).identity.toString();
    /** Looked up until it is hot: a channel may have to be trusted first. */
    const warmUp = async (url: string, process = ours): Promise<PeekedPage> => {
      let hot: PeekedPage | null = null;
      await waitUntil('the page is hot', async () => {
        await serve(process, url);
        hot = peek(url, process);
        return hot?.bodies.identity !== undefined;
      });
      return hot ?? expect.unreachable();
    };
    /** Other processes' versions come with their message; purges have come when they answer. */
    const expectSoon = (process: Process, url: string, text: string): Promise<void> =>
      waitUntil(`${text} is served`, async () => (await serve(process, url)) === textOf(text));

    test('what was asked for is held, and asks the disk no more', async () => {
      await save(others, URL_A);
      expect(peek(URL_A)).toBeNull();
      const hot = await warmUp(URL_A);
      expect(hot).toMatchObject({ freshness: 'fresh', entry: { url: URL_A } });
      expect(Object.keys(hot.bodies)).toEqual(['identity']);
      const before = reads.length;
      for (let i = 0; i < 10; i += 1) expect(await serve(ours, URL_A)).toBe(textOf(URL_A));
      expect(reads.length).toBe(before);
      const { pages, hits, bytes } = ours.pages.memoryUse();
      expect([pages, hits > 0, bytes > textOf(URL_A).length]).toEqual([1, true, true]);
    });

    test('past memory another process’s version is found before word of it has come', async () => {
      await save(others, URL_A, 'old');
      // Word that never comes: what is held stays current for ever.
      const deaf = start({
        ...clients.ours,
        entries: { ...clients.ours.entries, isCurrent: () => true },
      });
      await warmUp(URL_A, deaf);
      await save(others, URL_A, 'new');
      const { key, ref } = draft(URL_A);
      expect(await deaf.pages.lookUpStored(key, ref, URL_A)).toMatchObject({
        state: 'hit',
        entry: { bodies: { identity: { hash: hasher.bytes(makeBodies('new').identity) } } },
      });
    });

    test('each coding is held once it was asked for', async () => {
      await save(ours, URL_A);
      await warmUp(URL_A);
      const found = await lookUp(ours, URL_A);
      if (found.state !== 'hit') throw new Error(found.state);
      await ours.pages.readBody(found.entry, 'br');
      const before = reads.length;
      expect(await ours.pages.readBody(found.entry, 'br')).toMatchObject({ state: 'found' });
      expect(reads.length).toBe(before);
      expect(Object.keys((await warmUp(URL_A)).bodies).sort()).toEqual(['br', 'identity']);
    });

    test('many who ask for a cold body at once cause one read', async () => {
      await save(ours, URL_A);
      const served = await Promise.all(Array.from({ length: 50 }, () => serve(ours, URL_A)));
      expect(new Set(served)).toEqual(new Set([textOf(URL_A)]));
      expect(reads).toEqual(['identity']);
    });

    test('a next version by either process takes the place of what both hold', async () => {
      await save(others, URL_A, 'version 0');
      await warmUp(URL_A);
      await warmUp(URL_A, others);
      for (let i = 1; i <= 50; i += 1) {
        const [writer, reader] = i % 2 === 0 ? [ours, others] : [others, ours];
        await save(writer, URL_A, `version ${i}`);
        expect(await serve(writer, URL_A)).toBe(textOf(`version ${i}`));
        await expectSoon(reader, URL_A, `version ${i}`);
      }
    });

    test('a purge by another process holds when it has answered, hard and soft', async () => {
      for (let i = 0; i < 20; i += 1) {
        await save(ours, URL_A, `version ${i}`);
        await warmUp(URL_A);
        await purge(others, URL_A, true);
        expect(peek(URL_A)?.freshness).not.toBe('fresh');
        expect(await lookUp(ours, URL_A)).toMatchObject({ freshness: 'stale' });
        await warmUp(URL_A);
        await purge(others, URL_A, false);
        expect(peek(URL_A)).toBeNull();
        expect(await lookUp(ours, URL_A)).toMatchObject({ state: 'absent' });
      }
    });

    test('codings that are added later, and a softer life, keep the held body', async () => {
      await ours.pages.save(draft(URL_A));
      await serve(ours, URL_A);
      await ours.pages.drain();
      await purge(others, URL_A, true);
      const before = reads.length;
      expect(await serve(ours, URL_A)).toBe(textOf(URL_A));
      expect(reads.length).toBe(before);
      const found = await lookUp(ours, URL_A);
      const codings = { entry: { bodies: { br: {}, gzip: {} } } };
      expect(found).toMatchObject({ freshness: 'stale', ...codings });
    });

    test('freshness is judged at each use', async () => {
      await save(ours, URL_A);
      await warmUp(URL_A);
      clock.advance(HOUR_MS);
      expect(await lookUp(ours, URL_A)).toMatchObject({ freshness: 'stale' });
      clock.advance(HOUR_MS);
      expect(peek(URL_A)).toBeNull();
      expect(await lookUp(ours, URL_A)).toMatchObject({ state: 'absent' });
    });

    test.each(COLLISIONS)('$name: never answers for the other URL', async (pair) => {
      await save(ours, pair.first);
      await warmUp(pair.first);
      expect(peek(pair.second)).toBeNull();
      expect(await lookUp(ours, pair.second)).toMatchObject({ reason: 'collision' });
      expect(await serve(ours, pair.first)).toBe(textOf(pair.first));
    });

    test('a page larger than an eighth of the budget pushes out nobody', async () => {
      const small = start(clients.ours, 400_000);
      for (let i = 0; i < 10; i += 1) await save(small, `${URL_A}/${i}`);
      for (let i = 0; i < 10; i += 1) await warmUp(`${URL_A}/${i}`, small);
      const { pages } = small.pages.memoryUse();
      clock.advance(1);
      await small.pages.save({ ...draft(URL_A), body: Buffer.alloc(60_000, 97), headers: [] });
      expect((await serve(small, URL_A))?.length).toBe(60_000);
      expect(small.pages.memoryUse().pages).toBe(pages + 1);
      expect(peek(URL_A, small)?.bodies ?? {}).toEqual({});
    });

    test('no memory: every look-up asks the store', async () => {
      const none = start(clients.ours, 0);
      await save(none, URL_A);
      for (let i = 0; i < 3; i += 1) expect(await serve(none, URL_A)).toBe(textOf(URL_A));
      expect(peek(URL_A, none)).toBeNull();
      expect(none.pages.memoryUse()).toEqual({ bytes: 0, pages: 0, hits: 0 });
    });

    test('what is in memory is served though the disk has lost it', async () => {
      await save(ours, URL_A);
      await warmUp(URL_A);
      const folder = join(basePath, 'pages', '1', draft(URL_A).ref.hash.slice(0, 2));
      for (const file of readdirSync(folder)) writeFileSync(join(folder, file), 'spoiled');
      expect(await serve(ours, URL_A)).toBe(textOf(URL_A));
      expect(await serve(others, URL_A)).toBeNull();
      expect(await lookUp(ours, URL_A)).toMatchObject({ state: 'absent' });
    });
  });
}
