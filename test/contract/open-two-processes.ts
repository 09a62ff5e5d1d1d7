// All stores of a page as two processes have them, of each kind; for the suites about what one does
// while the other does something else.
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedInventory } from '../../src/adapters/embedded/create-embedded-inventory.ts';
import { createEmbeddedPurgeLog } from '../../src/adapters/embedded/create-embedded-purge-log.ts';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import type { BodyStore, Clock, EntryStore, PurgeLog } from '../../src/pipeline/ports.ts';
import type { BodyFiles, Inventory } from '../../src/pipeline/upkeep-ports.ts';
import { openRedisPair } from './open-redis-stores.ts';
import { openBodyStore } from './stored-bodies.ts';

export interface ProcessStores {
  readonly entries: EntryStore;
  readonly inventory: Inventory;
  readonly purgeLog: PurgeLog;
  readonly bodies: BodyStore;
  /** null: bodies are no files. */
  readonly files: BodyFiles | null;
}

export interface TwoProcesses {
  readonly one: ProcessStores;
  readonly other: ProcessStores;
  readonly dispose: () => Promise<void>;
}

export type OpenTwo = (basePath: string, clock: Clock) => Promise<TwoProcesses>;

export const openEmbeddedTwo: OpenTwo = async (basePath, clock) => {
  const open = async (): Promise<ProcessStores> => {
    const options = { basePath, clock, onWarning: () => undefined };
    const embedded = openEmbedded(options);
    const bodies = await openBodyStore(basePath);
    return {
      entries: createEmbeddedEntryStore(options, embedded),
      inventory: createEmbeddedInventory(embedded),
      purgeLog: createEmbeddedPurgeLog(embedded),
      bodies,
      files: bodies.files,
    };
  };
  const [one, other] = [await open(), await open()];
  return {
    one,
    other,
    dispose: async () => {
      await one.entries.close();
      await other.entries.close();
    },
  };
};

/** @param kept where bodies are */
export function openRedisTwo(url: string, kept: 'files' | 'redis'): OpenTwo {
  return async (basePath, clock) => {
    const pair = await openRedisPair(url, { clock });
    const open = async (stores: typeof pair.ours): Promise<ProcessStores> => {
      const files = await openBodyStore(basePath);
      return kept === 'redis' && stores.bodies !== null
        ? { ...stores, bodies: stores.bodies, files: null }
        : { ...stores, bodies: files, files: files.files };
    };
    return {
      one: await open(pair.ours),
      other: await open(pair.others),
      dispose: pair.dispose,
    };
  };
}
