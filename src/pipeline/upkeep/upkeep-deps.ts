// What sweep, quota and `verify` work on.
import type { BodyStore, Clock, EntryStore } from '../ports.ts';
import type { PurgeJournal } from '../purge/purge-journal.ts';
import type { BodyFiles, Inventory, UsageBook } from '../upkeep-ports.ts';

export interface UpkeepDeps {
  readonly entries: EntryStore;
  readonly inventory: Inventory;
  readonly bodies: BodyStore;
  /** null: bodies expire by themselves, and none is without a page for long. */
  readonly files: BodyFiles | null;
  readonly usage: UsageBook;
  /** The purges there are at this moment; null: the log can't be asked. */
  readonly readPurges: () => Promise<KnownPurges | null>;
  readonly clock: Clock;
}

export interface KnownPurges {
  /** Where the log ends. */
  readonly end: number;
  readonly judge: PurgeJournal['judge'];
}

/** How a long walk shares the process with those who serve. */
export interface Pace {
  /** Between two slices; told how long the last one took. */
  readonly rest: (workedMs: number) => Promise<void>;
  /** Asked after each slice. */
  readonly isStopped: () => boolean;
}

/**
 * Files that were put in place later than this may belong to a page whose metadata is about to be
 * written: between the two there is one write of the entry store.
 */
export const SETTLED_MS = 10_000;
