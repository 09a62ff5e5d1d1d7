// What sweep, quota and `verify` need of the stores: their other side, which no request sees. As in
// ports.ts, what may fail in operation is a value.
import type { Decoded } from '../core/key/entry-codec.ts';
import type { BodyRef, CacheKey, Done } from './ports.ts';

/** What lies under an entry's key, fit for use or not. */
export interface StoredItem {
  readonly key: CacheKey;
  /** Tells these bytes under this key from all others that were or will be there. */
  readonly version: string;
  /** Of the metadata. */
  readonly bytes: number;
  readonly content: Decoded;
}

/** The other side of an entry store, for sweep, quota and `verify`. */
export interface Inventory {
  /** Those of the keys under which there is something. */
  readonly read: (keys: readonly CacheKey[]) => Promise<Done<readonly StoredItem[]>>;
  readonly findAbsent: (keys: readonly CacheKey[]) => Promise<Done<readonly CacheKey[]>>;
  /** Deletes this version and no newer one; the value says whether it was there. */
  readonly remove: (item: StoredItem) => Promise<Done<boolean>>;
}

/** The other side of a body store whose bodies are files: they stay until somebody deletes them. */
export interface BodyFiles {
  /** Every page that has files, some at a time; a page may come twice. */
  readonly list: () => AsyncIterable<Done<readonly BodyRef[]>>;
  /** Those without an identity file. */
  readonly findMissing: (refs: readonly BodyRef[]) => Promise<Done<readonly BodyRef[]>>;
  /**
   * Those with files of which none was put in place after this moment. What is younger may belong
   * to a page whose metadata is about to be written.
   */
  readonly findOld: (refs: readonly BodyRef[], before: number) => Promise<Done<readonly BodyRef[]>>;
  /** Removes half-written files of dead processes, and bodies that no page has; says how many. */
  readonly sweepLeftovers: (before: number) => Promise<Done<number>>;
}

export interface UsedEntry {
  readonly key: CacheKey;
  /** Of metadata and bodies. */
  readonly bytes: number;
}

export interface HostUsage {
  readonly hostId: number;
  readonly entries: number;
  readonly bytes: number;
}

export type UsageChange =
  | { readonly kind: 'gone'; readonly key: CacheKey }
  /** Epoch milliseconds, by the clock of the process that used it. */
  | { readonly kind: 'used'; readonly key: CacheKey; readonly usedAt: number }
  /** `found`: a sweep saw it, and it is counted from now on, if it was not. */
  | {
      readonly kind: 'stored' | 'found';
      readonly key: CacheKey;
      readonly bytes: number;
      readonly usedAt: number;
    };

/**
 * How much is stored, and in which order it was used. It follows the stores by a few seconds, and a
 * sweep puts right what a killed process could not tell.
 */
export interface UsageBook {
  readonly apply: (changes: readonly UsageChange[]) => Promise<Done<void>>;
  readonly countHosts: () => Promise<Done<readonly HostUsage[]>>;
  /** Used longest ago first. */
  readonly listOldest: (count: number) => Promise<Done<readonly UsedEntry[]>>;
  /** All of them, some at a time. */
  readonly list: () => AsyncIterable<Done<readonly UsedEntry[]>>;
}
