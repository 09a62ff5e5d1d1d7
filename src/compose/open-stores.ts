// The stores of a configuration: Redis where it is named, else the embedded one; bodies are files.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedEntryStore } from '../adapters/embedded/create-embedded-entry-store.ts';
import { createFileBodyStore } from '../adapters/files/create-file-body-store.ts';
import { createRedisEntryStore } from '../adapters/redis/create-redis-entry-store.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { createHasher } from '../adapters/xxhash/create-hasher.ts';
import type { RedisSettings, Settings } from '../config/settings.ts';
import { createPageStore, type PageStore } from '../pipeline/page-store.ts';
import type { PageStoreEvent } from '../pipeline/page-store-deps.ts';
import type { BodyStore, Clock, EntryStore, Leases } from '../pipeline/ports.ts';
import { createSoloLeases } from '../pipeline/solo-leases.ts';

/** Something an operator should know about a store: one word, and its details beside it. */
export interface StoreNotice {
  readonly kind: string;
}

export interface StoreListener {
  readonly onNotice: (notice: StoreNotice) => void;
  readonly onEvent: (event: PageStoreEvent) => void;
}

export interface Stores {
  readonly pages: PageStore;
  readonly entries: EntryStore;
  readonly bodies: BodyStore;
  readonly leases: Leases;
  /** How many pages were stored whose body another page of the host had already. */
  readonly sharedBodies: () => number;
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
  const bodies = await createFileBodyStore({ ...shared, basePath, hasher });
  const removed = await bodies.sweepLeftovers();
  if (removed > 0) listener.onNotice(leftoversNotice(removed));
  const entries =
    settings.redis === null
      ? createEmbeddedEntryStore({ ...shared, basePath })
      : await createRedisEntryStore({ ...shared, url: singleUrl(settings.redis) });
  const pages = createPageStore({
    entries,
    bodies,
    hasher,
    clock,
    memoryBytesMax: settings.memory.bytesMax,
    onEvent: listener.onEvent,
  });
  return {
    pages,
    entries,
    bodies,
    leases: createSoloLeases(),
    sharedBodies: bodies.sharedCount,
    close: async () => {
      await pages.drain();
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
  const describe = (notice: StoreNotice): void => say(JSON.stringify(notice));
  return await openStores(settings, { onNotice: describe, onEvent: describe });
}

function singleUrl(redis: RedisSettings): string {
  if (redis.kind === 'single') return redis.url;
  throw new Error(`redis: ${redis.kind} is not connected yet`);
}

function leftoversNotice(files: number): StoreNotice & { readonly files: number } {
  return { kind: 'leftovers_removed', files };
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
