// The Inventory port on lmdb: a version is lmdb's own, which every write of an entry changes.
import { decodeEntry } from '../../core/key/entry-codec.ts';
import type { Inventory, StoredItem } from '../../pipeline/upkeep-ports.ts';
import type { Embedded } from './open-embedded.ts';

/** Makes the inventory of an embedded entry store. */
export function createEmbeddedInventory({ environment, read, write, clock }: Embedded): Inventory {
  const readItem = (key: string, nowMs: number): readonly StoredItem[] => {
    const found = environment.getEntry(key);
    if (found === undefined) return [];
    const content = decodeEntry(found.value, key, nowMs);
    return [{ key, version: String(found.version ?? 0), bytes: found.value.length, content }];
  };
  return {
    read: (keys) =>
      read(async () => {
        const now = clock.now();
        return { state: 'done', value: keys.flatMap((key) => readItem(key, now)) };
      }),
    findAbsent: (keys) =>
      read(async () => ({
        state: 'done',
        value: keys.filter((key) => !environment.doesExist(key)),
      })),
    remove: ({ key, version }) =>
      write(async () => ({
        state: 'done',
        value: await environment.remove(key, Number(version)),
      })),
  };
}
