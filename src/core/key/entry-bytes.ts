// What a page takes in the store, for the quota.
import type { Entry } from './entry.ts';
import { encodeEntry } from './entry-codec.ts';

/** Bytes of all bodies; one that other pages of the host share is counted for each of them. */
export function countBodyBytes({ bodies }: Entry): number {
  return bodies.identity.bytes + (bodies.gzip?.bytes ?? 0) + (bodies.br?.bytes ?? 0);
}

/** Metadata, as characters of its text, and all bodies. */
export function countEntryBytes(entry: Entry): number {
  return encodeEntry(entry).length + countBodyBytes(entry);
}
