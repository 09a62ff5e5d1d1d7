// The shape of what is stored for one page: metadata (the entry) and the names of its bodies. Pure
// data shared by the codec, the pipeline and the stores.

import type { HeaderList } from '../http/header-list.ts';

export type ContentCoding = 'identity' | 'gzip' | 'br';

/** Length and XXHash64 of one stored representation: checked whenever it is read. */
export interface BodyDigest {
  readonly bytes: number;
  readonly hash: string;
}

export type BodyDigests = { readonly identity: BodyDigest } & {
  readonly [coding in Exclude<ContentCoding, 'identity'>]?: BodyDigest | undefined;
};

export type EntrySource = 'render' | 'origin';

/** Metadata of one stored page. Written in one step, after its body files. */
export interface Entry {
  /** Format version; entries of another version are misses and are left alone. */
  readonly schema: 1;
  /** The whole normalized URL: compared on every hit, because XXH64 collisions can be made. */
  readonly url: string;
  readonly hostId: number;
  readonly dimensionId: number;
  readonly hash: string;
  readonly source: EntrySource;
  readonly status: number;
  readonly headers: HeaderList;
  /** Epoch milliseconds: fresh until staleAt, servable as stale until deleteAt. */
  readonly cachedAt: number;
  readonly staleAt: number;
  readonly deleteAt: number;
  /** When the identity body last changed, epoch milliseconds: `Last-Modified`. */
  readonly modifiedAt: number;
  readonly bodies: BodyDigests;
  /** Captured before it was ready: kept for seconds, never in place of a good page. */
  readonly partial?: true;
  /** Surrogate keys of the page, without repeats. Absent: none. null: so many, it may have any. */
  readonly tags?: readonly string[] | null;
  /**
   * Where the purge log ended when the fetch of this page began: a purge behind that place means
   * this page too, whenever it was stored. Absent: stored by a version without a log.
   */
  readonly since?: number;
  /** The soft purge that made it stale, and until when it was fresh before, for the undo. */
  readonly softened?: { readonly by: number; readonly staleAt: number };
  /** Of what was not rendered; its body is in the very bytes that came. */
  readonly exchange?: StoredExchange;
  /** Instead of an answer; the body is empty. */
  readonly variants?: VariantIndex;
}

/** An answer that was passed on, with all that RFC 9111 needs to use it again. */
export interface StoredExchange {
  /** End-to-end fields as the origin sent them, without `Age`; `Entry.headers` is empty. */
  readonly headers: HeaderList;
  /** How old it was when it came, milliseconds. */
  readonly initialAgeMs: number;
  /** The request fields it was chosen by, in one form; those the request had. */
  readonly selecting: HeaderList;
}

/** Stands at the key of a URL whose answers vary: by what, and where they are. */
export interface VariantIndex {
  /** Lower case. */
  readonly names: readonly string[];
  /** Part of the hash of each: those of an older index are not found any more. */
  readonly generation: number;
  /** Oldest first. */
  readonly hashes: readonly string[];
}

/** The store key of an entry, `cache:<host_id>:<dimension_id>:<hash>`. */
export type CacheKey = string;

/** Where a body lives: enough to name its file. */
export interface BodyRef {
  readonly hostId: number;
  readonly dimensionId: number;
  readonly hash: string;
}
