// The entry store as the pages of this process use it, with every use told to the usage book.
import { countEntryBytes } from '../../core/key/entry-bytes.ts';
import type { CacheKey, Done, EntryStore } from '../ports.ts';
import type { UseNotes } from './use-notes.ts';

/** Wraps a store; what is asked of the wrapped one itself is no use. */
export function watchUses(entries: EntryStore, notes: UseNotes): EntryStore {
  const tellGone = (key: CacheKey, done: Done<boolean>): Done<boolean> => {
    if (done.state === 'done' && done.value) notes.gone(key);
    return done;
  };
  return {
    ...entries,
    get: async (key) => {
      const found = await entries.get(key);
      if (found.state === 'found') notes.used(key);
      return found;
    },
    isCurrent: (key, stamp) => {
      const isCurrent = entries.isCurrent(key, stamp);
      // It is asked about a page that is going to be served from memory.
      if (isCurrent) notes.used(key);
      return isCurrent;
    },
    put: async (key, entry, claim) => {
      const done = await entries.put(key, entry, claim);
      if (done.state === 'done') notes.stored(key, countEntryBytes(entry));
      return done;
    },
    replace: async (key, previous, next) => {
      const done = await entries.replace(key, previous, next);
      if (done.state === 'done' && done.value) notes.stored(key, countEntryBytes(next));
      return done;
    },
    delete: async (key, text) => tellGone(key, await entries.delete(key, text)),
    deleteForeign: async (key) => tellGone(key, await entries.deleteForeign(key)),
  };
}
