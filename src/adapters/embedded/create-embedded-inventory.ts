// The Inventory port on lmdb: a version is lmdb's own, which every write of an entry changes.
// Entries are of any size, so that it is time that bounds how many are read in one turn.
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { decodeEntry } from '../../core/key/entry-codec.ts';
import type { Inventory, StoredItem } from '../../pipeline/upkeep-ports.ts';
import type { Embedded } from './open-embedded.ts';

/** Those who serve wait no longer than that, and one entry. */
const TURN_MS = 5;

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
        const value: StoredItem[] = [];
        let beganAt = performance.now();
        for (const key of keys) {
          if (performance.now() - beganAt > TURN_MS) {
            await yieldTurn();
            beganAt = performance.now();
          }
          value.push(...readItem(key, clock.now()));
        }
        return { state: 'done', value };
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
