// Both entry stores, empty, with a way around them; shared by the suites that run over each.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { open } from 'lmdb';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedPurgeLog } from '../../src/adapters/embedded/create-embedded-purge-log.ts';
import {
  type EmbeddedStoreOptions,
  openEmbedded,
} from '../../src/adapters/embedded/open-embedded.ts';
import { connectRedisStores } from '../../src/adapters/redis/connect-redis-stores.ts';
import type { Clock, EntryStore, PurgeLog } from '../../src/pipeline/ports.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';

/** A busy test machine must not look like a Redis that fails. */
export const PATIENCE_MS = 10_000;

/** The embedded stores over one environment, which the entries close. */
export function openEmbeddedStores(options: EmbeddedStoreOptions): {
  readonly entries: EntryStore;
  readonly purgeLog: PurgeLog;
} {
  const embedded = openEmbedded(options);
  return {
    entries: createEmbeddedEntryStore(options, embedded),
    purgeLog: createEmbeddedPurgeLog(embedded),
  };
}

/** Opens an embedded store in a folder of its own. */
export async function openEmbeddedSubject(clock: Clock): Promise<EntryStoreSubject> {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-embedded-'));
  const options = { basePath, clock, onWarning: () => undefined };
  const { entries: store, purgeLog } = openEmbeddedStores(options);
  const raw = open<string, string>({
    path: join(basePath, 'store'),
    noSubdir: false,
    encoding: 'string',
    useVersions: true,
    eventTurnBatching: false,
    separateFlushed: true,
  });
  return {
    store,
    openOther: async () => openEmbeddedStores(options).entries,
    purgeLog,
    plant: async (key, text) => void (await raw.put(key, text, 7)),
    readRaw: async (key) => raw.get(key) ?? null,
    dispose: async () => {
      await store.close();
      await raw.close();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
}

/** Opens a store on a Redis that is emptied first. */
export async function openRedisSubject(url: string, clock: Clock): Promise<EntryStoreSubject> {
  const raw = new Redis(url);
  await raw.flushall();
  const connect = () =>
    connectRedisStores(
      { kind: 'single', url },
      { clock, onWarning: () => undefined, bodies: null, timeoutMs: PATIENCE_MS },
    );
  const { entries: store, purgeLog } = await connect();
  return {
    store,
    openOther: async () => (await connect()).entries,
    purgeLog,
    plant: async (key, text) => void (await raw.set(key, text)),
    readRaw: (key) => raw.get(key),
    dispose: async () => {
      await store.close();
      await raw.quit();
    },
  };
}
