// A store of a process, on the disk, with what sweep and quota see of it; pages are written as the
// page store does it: bodies, then metadata.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedInventory } from '../../src/adapters/embedded/create-embedded-inventory.ts';
import { createEmbeddedPurgeLog } from '../../src/adapters/embedded/create-embedded-purge-log.ts';
import { createEmbeddedUsageBook } from '../../src/adapters/embedded/create-embedded-usage-book.ts';
import { type Embedded, openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import { createFileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, Clock, Done, Entry, EntryStore, Hasher } from '../../src/pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import type { KnownPurges, Pace, UpkeepDeps } from '../../src/pipeline/upkeep/upkeep-deps.ts';
import { createUseNotes, type UseNotes } from '../../src/pipeline/upkeep/use-notes.ts';
import { watchUses } from '../../src/pipeline/upkeep/watch-uses.ts';
import { digestOf } from '../contract/stored-bodies.ts';
import { keyOf, makeEntry } from '../contract/stored-entries.ts';
import { createTestClock, type TestClock } from '../contract/test-clock.ts';

export interface StoredStore {
  readonly basePath: string;
  readonly embedded: Embedded;
  readonly deps: UpkeepDeps;
  /** As the pages of a process use it. */
  readonly noted: EntryStore;
  readonly notes: UseNotes;
  readonly journal: PurgeJournal;
  readonly hasher: Hasher;
  readonly close: () => Promise<void>;
}

/** Rests never, stops never. */
export const NO_PACE: Pace = { rest: async () => undefined, isStopped: () => false };

/** A log that ends there and keeps none. */
export function noPurgesTo(end: number): KnownPurges {
  return { end, judge: () => ({ state: 'kept' }) };
}

export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'edge-gateway-upkeep-')));
}

/** Opens the store of a folder; several may be open on one, also in other processes. */
export async function openStore(basePath: string, clock: Clock): Promise<StoredStore> {
  const onWarning = (warning: unknown): never => {
    throw new Error(JSON.stringify(warning));
  };
  const options = { basePath, clock, onWarning };
  const hasher = await createHasher();
  const embedded = openEmbedded(options);
  const entries = createEmbeddedEntryStore(options, embedded);
  const bodies = await createFileBodyStore({ ...options, hasher });
  const usage = createEmbeddedUsageBook(embedded);
  const notes = createUseNotes({ book: usage, clock });
  const journal = createPurgeJournal(createEmbeddedPurgeLog(embedded));
  return {
    basePath,
    embedded,
    hasher,
    notes,
    journal,
    noted: watchUses(entries, notes),
    deps: {
      entries,
      inventory: createEmbeddedInventory(embedded),
      bodies,
      files: bodies.files,
      usage,
      readPurges: async () => {
        valueOf(await journal.catchUp());
        return { end: journal.end(), judge: journal.judge };
      },
      clock,
    },
    close: async () => {
      await notes.close();
      await entries.close();
    },
  };
}

export function removeFolder(basePath: string): void {
  rmSync(basePath, { recursive: true, force: true });
}

/**
 * A store of each test's own, with a clock that the test moves; gone when the test ends.
 *
 * @param take gets both before each test
 */
export function useStore(take: (store: StoredStore, clock: TestClock) => void): void {
  let opened: StoredStore;
  beforeEach(async () => {
    const clock = createTestClock();
    opened = await openStore(makeFolder(), clock);
    take(opened, clock);
  });
  afterEach(async () => {
    await opened.close();
    removeFolder(opened.basePath);
  });
}

export interface StoredPage {
  readonly key: string;
  readonly ref: BodyRef;
  readonly entry: Entry;
  readonly body: Buffer;
}

/** Page number `i` of a host: its body is its own unless a text is given. */
export function makePage(store: StoredStore, i: number, fields: Partial<Entry> = {}): StoredPage {
  const { hostId = 1 } = fields;
  const url = `https://example.com/page/${i}`;
  const hash = store.hasher.text(`${hostId} ${url}`);
  const body = Buffer.from(`<title>${hostId} ${i}</title>`.padEnd(1_000, '.'));
  const bodies = { identity: digestOf(store.hasher, body) };
  const entry = makeEntry({ url, hostId, hash, bodies, ...fields }, store.deps.clock.now());
  return { key: keyOf(entry), ref: { hostId, dimensionId: entry.dimensionId, hash }, entry, body };
}

/** Stores a page, with its body under the name of its key. */
export async function storePage(store: StoredStore, page: StoredPage): Promise<StoredPage> {
  await storeBody(store, page);
  valueOf(await store.noted.put(page.key, page.entry));
  return page;
}

export async function storeBody({ deps }: StoredStore, { ref, body }: StoredPage): Promise<void> {
  valueOf(await deps.bodies.write(ref, { identity: body }, Number.MAX_SAFE_INTEGER));
}

/** What is left of a page. */
export async function lookAt(
  { deps }: StoredStore,
  { key, ref, entry }: StoredPage,
): Promise<'whole' | 'entry' | 'body' | 'nothing'> {
  const hasEntry = valueOf(await deps.inventory.findAbsent([key])).length === 0;
  const body = await deps.bodies.read(ref, 'identity', entry.bodies);
  if (hasEntry) return body.state === 'found' ? 'whole' : 'entry';
  return body.state === 'found' ? 'body' : 'nothing';
}

export function valueOf<T>(done: Done<T>): T {
  if (done.state === 'unavailable') throw new Error(done.reason);
  return done.value;
}
