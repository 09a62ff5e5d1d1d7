// What changes entries in the environment: each change is one transaction, made only while what it
// stands on still holds.
import { decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import type { CacheKey, Done, Entry, EntryStore } from '../../pipeline/ports.ts';
import type { EmbeddedClaims } from './embedded-claims.ts';
import type { Embedded } from './open-embedded.ts';
import { nextStamp } from './stamp.ts';

const DONE: Done<void> = { state: 'done', value: undefined };
const CLAIM_LOST: Done<void> = { state: 'unavailable', reason: 'claim_lost' };

export function createEntryWrites(
  { environment, write, clock }: Embedded,
  claims: EmbeddedClaims,
): Pick<EntryStore, 'put' | 'replace' | 'delete' | 'deleteForeign'> {
  function replace(key: CacheKey, previous: Entry, next: Entry): Promise<Done<boolean>> {
    return write(async () => {
      const found = environment.getEntry(key);
      if (found?.value !== encodeEntry(previous)) return { state: 'done', value: false };
      const stamp = nextStamp(clock.now());
      const value = await environment.put(key, encodeEntry(next), stamp, found.version ?? 0);
      return { state: 'done', value };
    });
  }

  function remove(key: CacheKey, isMeant: (text: string) => boolean): Promise<Done<boolean>> {
    return write(async () => {
      const found = environment.getEntry(key);
      if (found === undefined || !isMeant(found.value)) return { state: 'done', value: false };
      return { state: 'done', value: await environment.remove(key, found.version ?? 0) };
    });
  }

  return {
    put: (key, entry, claim) =>
      write(async () => {
        const put = (): Promise<boolean> =>
          environment.put(key, encodeEntry(entry), nextStamp(clock.now()));
        const isStored = await (claim === undefined
          ? put()
          : claims.endWith(key, claim, () => void put()));
        return isStored ? DONE : CLAIM_LOST;
      }),
    replace,
    delete: (key, text) => remove(key, (stored) => stored === text),
    deleteForeign: (key) =>
      remove(key, (stored) => decodeEntry(stored, key, clock.now()).state === 'foreign'),
  };
}
