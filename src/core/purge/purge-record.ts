// What the purge log holds: which pages are meant, and how they go. A record is a promise: no page
// whose fetch began before it is served any more (soft: served as fresh), by any process of any
// machine, whether or not its entry has been deleted yet.
import type { CacheKey } from '../key/entry.ts';

export type PurgeSelector =
  /** One page in its dimensions and variants; the URL is normalized. */
  | {
      readonly kind: 'url';
      readonly url: string;
      /** Where it is stored, its variants aside, in the dimensions that are configured. */
      readonly keys: readonly CacheKey[];
      /** The No-Vary-Search value by which other spellings of the URL are the same page. */
      readonly learned?: string | undefined;
      /** In this dimension alone; absent: in all. */
      readonly dimensionId?: number | undefined;
    }
  /** Pages whose path matches, of one host or of all (null). */
  | { readonly kind: 'pattern'; readonly pattern: string; readonly hostId: number | null }
  | { readonly kind: 'tag'; readonly tag: string; readonly hostId: number | null }
  | { readonly kind: 'host'; readonly hostId: number }
  | { readonly kind: 'all' };

export interface PurgeOrder {
  readonly selector: PurgeSelector;
  /** Marks stale instead of deleting. */
  readonly soft: boolean;
  /** Takes a soft purge back: its place in the log. The selector is the same as there. */
  readonly undoes: number | null;
}

export interface PurgeRecord extends PurgeOrder {
  /** Place in the log: later is larger, and the first is more than 0. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** How long a log keeps a purge: longer than any fetch can take. */
export const PURGE_KEPT_MS = 15 * 60_000;

/** How many purges a log keeps; the oldest go first. */
export const PURGES_MAX = 10_000;
