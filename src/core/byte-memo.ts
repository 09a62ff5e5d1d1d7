// What is known of short texts, found by their bytes: a text that is known already is never made.
// Bounded by the number of places: who comes newly into one takes it, and the older one moves to
// the place beside it. Whoever scans the bytes hashes them on the way.

/** A power of two. */
const PLACES = 4_096;
const BYTES_MAX = 128;

export interface ByteMemo<T> {
  /** What is known of the bytes from `from` to before `to`. */
  readonly find: (hash: number, bytes: Uint8Array, from: number, to: number) => T | undefined;
  /** @param kept a copy of the bytes */
  readonly keep: (hash: number, kept: Uint8Array, value: T) => void;
}

interface Kept<T> {
  readonly bytes: Uint8Array;
  readonly value: T;
}

/** FNV-1a: what the hash of a text begins with. */
export const HASH_START = 0x811c9dc5 | 0;

/** The hash with one byte more. */
export function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

export function createByteMemo<T>(): ByteMemo<T> {
  const places: (Kept<T> | undefined)[] = [];
  places.length = PLACES;
  return {
    find: (hash, bytes, from, to) => {
      const place = slotOf(hash);
      const kept = places[place];
      if (kept === undefined) return undefined;
      if (isAt(kept.bytes, bytes, from, to)) return kept.value;
      const beside = places[place ^ 1];
      if (beside === undefined) return undefined;
      return isAt(beside.bytes, bytes, from, to) ? beside.value : undefined;
    },
    keep: (hash, kept, value) => {
      if (kept.length > BYTES_MAX) return;
      const place = slotOf(hash);
      const before = places[place];
      if (before !== undefined) places[place ^ 1] = before;
      places[place] = { bytes: kept, value };
    },
  };
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (PLACES - 1);
}

/** Whether the bytes from `from` to before `to` are these. */
export function isAt(these: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (these.length !== to - from) return false;
  for (let at = 0; at < these.length; at += 1) {
    if (these[at] !== bytes[from + at]) return false;
  }
  return true;
}
