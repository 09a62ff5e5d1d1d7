// The stores of a configuration: Redis where it is named, else the embedded one; bodies are files,
// or in Redis too.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedEntryStore } from '../adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedInventory } from '../adapters/embedded/create-embedded-inventory.ts';
import { createEmbeddedLearnedRules } from '../adapters/embedded/create-embedded-learned-rules.ts';
import { createEmbeddedPurgeLog } from '../adapters/embedded/create-embedded-purge-log.ts';
import { createEmbeddedUsageBook } from '../adapters/embedded/create-embedded-usage-book.ts';
import { type EmbeddedStoreOptions, openEmbedded } from '../adapters/embedded/open-embedded.ts';
import {
  createFileBodyStore,
  type FileBodyStoreOptions,
} from '../adapters/files/create-file-body-store.ts';
import type { CheckEviction } from '../adapters/redis/check-eviction.ts';
import { connectRedisStores } from '../adapters/redis/connect-redis-stores.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { createHasher } from '../adapters/xxhash/create-hasher.ts';
import type { Settings } from '../config/settings.ts';
import { createSoloLeases } from '../pipeline/fetch/solo-leases.ts';
import type {
  BodyStore,
  Clock,
  EntryStore,
  LearnedRules,
  Leases,
  PurgeLog,
} from '../pipeline/ports.ts';
import { createPurgeJournal, type PurgeJournal } from '../pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../pipeline/store/page-store.ts';
import type { PageStoreEvent } from '../pipeline/store/page-store-deps.ts';
import type { KnownPurges, UpkeepDeps } from '../pipeline/upkeep/upkeep-deps.ts';
import { createUseNotes } from '../pipeline/upkeep/use-notes.ts';
import { watchUses } from '../pipeline/upkeep/watch-uses.ts';
import { type CountUnavailable, countStoreErrors } from './count-store-errors.ts';
import { describeNotice, type StoreNotice } from './store-notice.ts';

export interface StoreListener {
  readonly onNotice: (notice: StoreNotice) => void;
  readonly onEvent: (event: PageStoreEvent) => void;
  /** Once for each answer that was none; a notice tells of the whole outage. */
  readonly onUnavailable: CountUnavailable;
}

interface StoreNotices {
  readonly onWarning: (notice: StoreNotice) => void;
}

export interface Stores {
  readonly pages: PageStore;
  readonly entries: EntryStore;
  readonly bodies: BodyStore;
  readonly leases: Leases;
  readonly learned: LearnedRules;
  /** What this process knows of the purges of all. */
  readonly journal: PurgeJournal;
  /** How many pages were stored whose body another page of the host had already. */
  readonly sharedBodies: () => number;
  /** null: the store is not Redis. */
  readonly checkEviction: CheckEviction | null;
  /** What sweep, quota and `verify` work on. */
  readonly upkeep: UpkeepDeps;
  readonly close: () => Promise<void>;
}

/**
 * Opens the stores for serving. Throws, with a message for the operator, when that can't be done.
 */
export async function openStores(
  settings: Settings,
  listener: StoreListener,
  clock: Clock = systemClock,
): Promise<Stores> {
  const { basePath } = settings.storage;
  const hasher = await createHasher();
  const shared = { clock, onWarning: listener.onNotice };
  const bytesMax = settings.server.limits.pageBytesMax;
  const redis =
    settings.redis &&
    (await connectRedisStores(settings.redis, {
      ...shared,
      bodies: settings.storage.bodies === 'redis' ? { hasher, bytesMax } : null,
    }));
  const { inventory, usage, ...opened } = redis ?? openEmbeddedStores({ ...shared, basePath });
  const { sharedBodies, files, ...kept } = redis?.bodies
    ? { bodies: redis.bodies, sharedBodies: () => 0, files: null }
    : await openBodyFiles({ ...shared, basePath, hasher });
  const { entries, bodies, learned, purgeLog } = countStoreErrors(
    { ...opened, ...kept },
    listener.onUnavailable,
  );
  const notes = createUseNotes({ book: usage, clock });
  const journal = createPurgeJournal(purgeLog);
  const pages = createPageStore({
    entries: watchUses(entries, notes),
    bodies,
    journal,
    hasher,
    clock,
    memoryBytesMax: settings.memory.bytesMax,
    onEvent: (event) =>
      listener.onEvent(redis !== null && files !== null ? hintAtFolder(event) : event),
  });
  return {
    pages,
    entries,
    bodies,
    leases: redis?.leases ?? createSoloLeases(),
    learned,
    journal,
    sharedBodies,
    checkEviction: redis?.checkEviction ?? null,
    upkeep: {
      entries,
      inventory,
      bodies,
      files,
      usage,
      readPurges: () => readPurges(journal),
      clock,
    },
    close: async () => {
      await pages.drain();
      await notes.close();
      await entries.close();
      await bodies.close();
    },
  };
}

/**
 * Opens the stores for a command beside a running gateway; null when nothing was ever stored, so
 * that looking never creates anything.
 *
 * @param say gets one line for a person
 */
export async function openStoresIfPresent(
  settings: Settings,
  say: (message: string) => void,
): Promise<Stores | null> {
  const isPresent =
    settings.redis !== null || (await exists(join(settings.storage.basePath, 'store')));
  if (!isPresent) return null;
  const describe = (notice: StoreNotice | PageStoreEvent): void => say(describeNotice(notice));
  return await openStores(settings, {
    onNotice: describe,
    onEvent: describe,
    // A command says itself what it could not do.
    onUnavailable: () => undefined,
  });
}

interface EmbeddedStores
  extends Pick<Stores, 'entries' | 'learned'>,
    Pick<UpkeepDeps, 'inventory' | 'usage'> {
  readonly purgeLog: PurgeLog;
}

function openEmbeddedStores(options: EmbeddedStoreOptions): EmbeddedStores {
  const embedded = openEmbedded(options);
  return {
    entries: createEmbeddedEntryStore(options, embedded),
    learned: createEmbeddedLearnedRules(embedded),
    purgeLog: createEmbeddedPurgeLog(embedded),
    inventory: createEmbeddedInventory(embedded),
    usage: createEmbeddedUsageBook(embedded),
  };
}

/** Metadata of all machines and files of this one: others' pages have no file here. */
function hintAtFolder(event: PageStoreEvent): PageStoreEvent {
  if (event.kind !== 'body_damaged' || event.reason !== 'missing') return event;
  const hint =
    'do all gateways on this Redis share storage.base_path? else set storage.bodies: redis';
  return { ...event, hint };
}

async function readPurges({ catchUp, end, judge }: PurgeJournal): Promise<KnownPurges | null> {
  const known = await catchUp();
  return known.state === 'done' ? { end: end(), judge } : null;
}

async function openBodyFiles(
  options: FileBodyStoreOptions & StoreNotices,
): Promise<Pick<Stores, 'bodies' | 'sharedBodies'> & Pick<UpkeepDeps, 'files'>> {
  const bodies = await createFileBodyStore(options);
  const removed = await bodies.sweepLeftovers();
  if (removed > 0) options.onWarning({ kind: 'leftovers_removed', files: removed });
  return { bodies, sharedBodies: bodies.sharedCount, files: bodies.files };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    // Absent is an answer here.
    return false;
  }
}
