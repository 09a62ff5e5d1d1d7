// What the pipeline needs from the outside world, declared by the one who needs it. src/README.md
// names the contract suite that every adapter of a port passes. An adapter answers with a value for
// what may fail in operation; it throws only for a broken invariant.

import type { RangeList } from '../core/bots/range-list.ts';
import type { HeaderList } from '../core/http/header-list.ts';
import type { FetchFailure } from '../core/http/proxy-status.ts';
import type {
  BodyDigest,
  BodyDigests,
  BodyRef,
  CacheKey,
  ContentCoding,
  Entry,
  EntrySource,
} from '../core/key/entry.ts';
import type { LearnedRule, LearnedTable } from '../core/learned/learned-rule.ts';
import type { LeaseResult } from '../core/lease-result.ts';
import type { Pattern } from '../core/pattern/parse-pattern.ts';
import type { Dimension, HostPolicy, RenderPolicy } from '../core/policy/policy.ts';
import type { PurgeOrder, PurgeRecord } from '../core/purge/purge-record.ts';

export type { HeaderList } from '../core/http/header-list.ts';
export type { FetchFailure } from '../core/http/proxy-status.ts';
export type {
  BodyDigest,
  BodyDigests,
  BodyRef,
  CacheKey,
  ContentCoding,
  Entry,
  EntrySource,
} from '../core/key/entry.ts';
export type { LeaseResult } from '../core/lease-result.ts';

/** Wall time in epoch milliseconds; tests inject their own. */
export interface Clock {
  readonly now: () => number;
}

/** XXHash64, seed 0, as 16 lower-case hex digits. */
export interface Hasher {
  readonly text: (text: string) => string;
  readonly bytes: (bytes: Uint8Array) => string;
}

/** The bodies of one page: identity always, the codings where compressing paid. */
export type BodySet = { readonly identity: Buffer } & {
  readonly [coding in Exclude<ContentCoding, 'identity'>]?: Buffer | undefined;
};

/** What was compressed of an identity body. */
export type Codings = Omit<BodySet, 'identity'>;

export type Found<T> =
  | { readonly state: 'found'; readonly value: T }
  | { readonly state: 'absent' }
  /** Something was there and could not be used. */
  | { readonly state: 'damaged'; readonly reason: string }
  /** The store could not be asked: never to be taken for a miss. */
  | { readonly state: 'unavailable'; readonly reason: string };

export type Done<T> =
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'unavailable'; readonly reason: string };

/** No field: every entry there is. */
export interface EntryFilter {
  readonly hostId?: number | undefined;
  /** Only with `hostId`. */
  readonly dimensionId?: number | undefined;
}

export type FoundEntry =
  | {
      readonly state: 'found';
      readonly value: Entry;
      /** Which version this is, for `isCurrent`. */
      readonly stamp: number;
      /** As it is stored, for `delete`. */
      readonly text: string;
    }
  | Exclude<Found<Entry>, { readonly state: 'found' }>;

export interface StoredEntry {
  readonly key: CacheKey;
  readonly entry: Entry;
}

/** Names who claims the bodies of a page. */
export type Claim = string;

/** What a dead process has claimed is free again after this time. */
export const CLAIM_MS = 2_000;

/** Metadata by cache key. Reads and writes of one key are atomic; a damaged value is dropped. */
export interface EntryStore {
  readonly name: string;
  readonly get: (key: CacheKey) => Promise<FoundEntry>;
  /**
   * Whether what was read under this stamp is still what is stored. Asks nobody: false also when
   * that can't be told at the moment, and then it has to be read again.
   */
  readonly isCurrent: (key: CacheKey, stamp: number) => boolean;
  /** Whether anything is stored there, of use or not. */
  readonly has: (key: CacheKey) => Promise<Done<boolean>>;
  /**
   * Stores until `entry.deleteAt`; replaces the whole value.
   *
   * @param claim ends with it; `unavailable`, and nothing stored, when others have taken it over
   */
  readonly put: (key: CacheKey, entry: Entry, claim?: Claim) => Promise<Done<void>>;
  /** As `put`, but only in place of exactly this entry; the value says whether it was there. */
  readonly replace: (key: CacheKey, previous: Entry, next: Entry) => Promise<Done<boolean>>;
  /** Deletes what was found there with this text; the value says whether it was still there. */
  readonly delete: (key: CacheKey, text: string) => Promise<Done<boolean>>;
  /** Deletes what another version of the format has stored there; the value: whether it had. */
  readonly deleteForeign: (key: CacheKey) => Promise<Done<boolean>>;
  /**
   * Takes the bodies of a page for whoever is going to write them or take them away: one at a time,
   * over all processes. null: somebody has. For its owner may die, it ends by itself after
   * `CLAIM_MS`.
   *
   * @param mine to have it for as long once more
   */
  readonly claim: (key: CacheKey, mine?: Claim) => Promise<Done<Claim | null>>;
  readonly release: (key: CacheKey, claim: Claim) => Promise<Done<void>>;
  /**
   * Every key of a host, in slices, tolerating concurrent change: a key may come twice. A slice
   * that is `unavailable` is the last one, so that half a list is never taken for the whole.
   */
  readonly keys: (filter: EntryFilter) => AsyncIterable<Done<readonly CacheKey[]>>;
  /** As `keys`, with what is stored under them; what can't be used is left out. */
  readonly entries: (filter: EntryFilter) => AsyncIterable<Done<readonly StoredEntry[]>>;
  /**
   * The dimensions in which a host has entries, whether they are configured or not. Cheap, however
   * much is stored; may name more than there are.
   */
  readonly dimensions: (hostId: number) => Promise<Done<readonly number[]>>;
  /** Answers only when a read and the connection work. */
  readonly check: () => Promise<Done<void>>;
  readonly close: () => Promise<void>;
}

/** Reads one coding; answers as `BodyStore.read` does. */
export type BodyReading = (coding: ContentCoding, digests: BodyDigests) => Promise<Found<Buffer>>;

/** Body bytes by reference, all codings of a page together. */
export interface BodyStore {
  readonly name: string;
  /**
   * Durable when it answers: written aside, flushed, renamed into place. Where the store can, the
   * bytes of the older version are still found by its digests, until `forget`: whoever is killed
   * before its metadata are stored has lost nothing.
   *
   * @param until epoch milliseconds, `deleteAt` of the entry: a store that forgets by itself keeps
   *   them at least that long
   */
  readonly write: (ref: BodyRef, bodies: BodySet, until: number) => Promise<Done<void>>;
  /**
   * The codings that are kept already of the same bytes, for another page of the host: they need
   * not be made again. They decode to exactly these bytes; empty for a store that can't tell.
   */
  readonly findCodings: (hostId: number, identity: Buffer) => Promise<Codings>;
  /** A version is stored no more; bytes that another page has stay. */
  readonly forget: (ref: BodyRef, identity: BodyDigest) => Promise<Done<void>>;
  /** The entry lives longer than was said when its bodies were written. */
  readonly keepUntil: (ref: BodyRef, until: number) => Promise<Done<void>>;
  /**
   * Bytes exactly as the coding's digest describes them, `absent` without one. What can't be a body
   * file (a link, a FIFO, a directory) is removed; other bytes are left, since they may be the next
   * version, whose metadata is about to be written: the caller decides.
   */
  readonly read: (
    ref: BodyRef,
    coding: ContentCoding,
    digests: BodyDigests,
  ) => Promise<Found<Buffer>>;
  /** Begins to read before the digest is known, where that helps: the first coding that is kept. */
  readonly readAhead: (ref: BodyRef, codings: readonly ContentCoding[]) => BodyReading;
  /** Deletes all codings; the value says whether there was a body. */
  readonly delete: (ref: BodyRef) => Promise<Done<boolean>>;
  /** Whether `delete` leaves them, in the same step, where there is an entry or a claim. */
  readonly sparesEntries: boolean;
  readonly check: () => Promise<Done<void>>;
  readonly close: () => Promise<void>;
}

export interface PurgeNews {
  /** Behind the place that was asked for, oldest first. */
  readonly records: readonly PurgeRecord[];
  /** The last place that was ever given; smaller than the one asked for after a store was lost. */
  readonly end: number;
  /** Places up to here have been dropped: their pages were deleted long ago. */
  readonly droppedTo: number;
  /** Names the log, see `PurgeLog.life`. */
  readonly life: string;
}

/**
 * Every purge, in one order that all processes and machines agree on. Keeps the latest for longer
 * than any fetch can take; drops the oldest first.
 */
export interface PurgeLog {
  /**
   * Writes a purge. When it answers, `isCaughtUp` is false at the place before it in every process
   * of every machine, for good.
   */
  readonly append: (order: PurgeOrder) => Promise<Done<PurgeRecord>>;
  readonly readAfter: (seq: number) => Promise<Done<PurgeNews>>;
  /**
   * Whether the log certainly ends at this place. Asks nobody: false also when that can't be told
   * at the moment, and then `readAfter` has to be asked.
   */
  readonly isCaughtUp: (seq: number) => boolean;
  /**
   * Names this log: one that was emptied, or is that of another store, has another name, and its
   * places say nothing about the former's. Asks nobody; null: can't be told at the moment.
   */
  readonly life: () => string | null;
  /**
   * Tells of purges by other processes, where they are heard of: their writers wait, for a moment,
   * until the listener is done.
   */
  readonly onNews: (listener: () => Promise<Done<void>>) => void;
}

/** What origins have said about their parameters, as all processes and machines agree on it. */
export interface LearnedRules {
  /** What is known now. Waits for nobody: on Redis, others' news may be about a second late. */
  readonly current: () => LearnedTable;
  /** Brings what is known up to what is stored. */
  readonly refresh: () => Promise<Done<void>>;
  /** Keeps a rule, unless its host has too many that were said lately. */
  readonly learn: (rule: LearnedRule) => Promise<Done<void>>;
  readonly forget: (hostId: number, address: string) => Promise<Done<void>>;
}

export interface Lease {
  /** false: it was taken for dead meanwhile, and somebody else may fetch too. */
  readonly isHeld: () => boolean;
  /** Tells the followers; only the holder's word counts. Never throws. */
  readonly release: (result: LeaseResult) => Promise<void>;
}

export type LeaseTurn =
  | { readonly role: 'leader'; readonly lease: Lease }
  /** Resolves when the leader is done, or gone; never rejects, never polls. */
  | { readonly role: 'follower'; readonly result: Promise<LeaseResult> }
  /** Nobody can be asked who else is fetching. */
  | { readonly role: 'unavailable'; readonly reason: string };

/** Who fetches a page, over all processes and machines. A holder that dies is found out. */
export interface Leases {
  readonly enter: (key: string) => Promise<LeaseTurn>;
  readonly close: () => Promise<void>;
}

/** A page as it came back: status, end-to-end headers with their repeats, whole body as UTF-8. */
export interface Page {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly source: EntrySource;
  /** `partial`: captured before it was ready; never stored for its full time. */
  readonly completeness: 'complete' | 'partial';
}

export type PageResult =
  | {
      readonly outcome: 'page';
      readonly page: Page;
      /** URLs that a partial page was waiting for, without their queries: for the log alone. */
      readonly pending?: readonly string[];
    }
  | { readonly outcome: 'failed'; readonly reason: FetchFailure; readonly detail: string };

/** One page to get. Carries nothing of the client but the headers the policy lets through. */
export interface PageJob {
  /** The normalized URL: exactly what is in the key. */
  readonly url: string;
  readonly host: HostPolicy;
  readonly dimension: Dimension;
  readonly render: RenderPolicy;
  readonly headers: HeaderList;
  readonly requestId: string;
}

/** One of those who render, and whether it could take a job now. */
export interface RendererState {
  /** `own`, or where it is. */
  readonly name: string;
  readonly isReady: boolean;
}

/** Gets the page of a normalized URL: render service, Chromium, or the origin itself. */
export interface PageSource {
  readonly name: 'chromium' | 'service' | 'origin' | 'off';
  readonly get: (job: PageJob, signal: AbortSignal) => Promise<PageResult>;
  /** Whether it could take a job now, for /ready. */
  readonly check: () => Promise<Done<void>>;
  /** Each of those that render, for the metrics; none where nobody does. */
  readonly renderers: () => Promise<readonly RendererState[]>;
  readonly close: () => Promise<void>;
}

/** The published address lists that are on this machine. */
export interface RangeLists {
  readonly find: (name: string) => RangeList | null;
  /** Reads the files again. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** `failed`: nobody answered in time, which says nothing about the address. */
export type NameCheck = 'confirmed' | 'refuted' | 'failed';

/** Forward-confirmed reverse DNS. Bounded in time; never throws. */
export interface NameChecker {
  /** Whether a name of the address is one of these, and leads back to the address. */
  readonly check: (address: string, names: readonly Pattern[]) => Promise<NameCheck>;
  readonly close: () => void;
}
