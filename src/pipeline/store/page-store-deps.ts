// What the page store is made of, and what it tells: the events are metric labels and log words.

import type { BodyRef, BodyStore, CacheKey, Clock, EntryStore, Hasher } from '../ports.ts';
import type { PurgeJournal } from '../purge/purge-journal.ts';
import type { BackgroundJobs } from './background-jobs.ts';
import { deleteOrphan } from './claim-bodies.ts';
import type { KeyTurns } from './key-turns.ts';
import type { MemoryTier } from './memory-tier.ts';

export type PageStoreEvent =
  /** Another URL has this key: a miss, and not overwritten while it is fresh. */
  | { readonly kind: 'collision'; readonly key: CacheKey; readonly url: string }
  | { readonly kind: 'entry_damaged'; readonly key: CacheKey; readonly reason: string }
  /** The body is gone or not what was stored; the entry has been dropped. */
  | {
      readonly kind: 'body_damaged';
      readonly key: CacheKey;
      readonly url: string;
      readonly reason: string;
      /** What may be behind it. */
      readonly hint?: string;
    }
  /** A page that can't be stored as it is, such as one with a header that would split an answer. */
  | { readonly kind: 'entry_refused'; readonly key: CacheKey; readonly reason: string }
  /** It stays as it is: whole, and larger on the wire. */
  | { readonly kind: 'not_compressed'; readonly key: CacheKey; readonly reason: string }
  /** What should go could not be deleted. */
  | { readonly kind: 'not_deleted'; readonly key: CacheKey; readonly reason: string };

/** What a page store stands on. */
export interface PageStoreParts {
  readonly entries: EntryStore;
  readonly bodies: BodyStore;
  /** Of the log that belongs to the entries. */
  readonly journal: PurgeJournal;
  readonly hasher: Hasher;
  readonly clock: Clock;
  /** `memory.max_bytes`; 0: every hit asks the store. */
  readonly memoryBytesMax: number;
  readonly onEvent: (event: PageStoreEvent) => void;
}

/** The parts, and what the page store keeps for itself. */
export interface PageStoreDeps extends PageStoreParts {
  readonly memory: MemoryTier;
  readonly turns: KeyTurns;
  readonly background: BackgroundJobs;
}

/**
 * Deletes the bodies that an entry which went has left, unless the page is being stored anew; an
 * event says when that failed.
 */
export async function dropBodies(key: CacheKey, ref: BodyRef, deps: PageStoreDeps): Promise<void> {
  const done = await deleteOrphan(ref, deps);
  if (done.state === 'unavailable') {
    deps.onEvent({ kind: 'not_deleted', key, reason: done.reason });
  }
}
