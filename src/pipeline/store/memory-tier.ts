// Hot pages of this process: entries as they were read, with the bodies that were asked for, least
// recently used out first. It only holds; whether what it holds may still be served is decided in
// one place, `peekPage`. Nobody writes into a body that it hands out.
import { LRUCache } from 'lru-cache';
import { encodeEntry } from '../../core/key/entry-codec.ts';
import { hasSameBody, isSameVersion } from '../../core/key/entry-version.ts';
import type { CacheKey, ContentCoding, Entry } from '../ports.ts';

export type HeldBodies = { readonly [coding in ContentCoding]?: Buffer };

export interface HeldPage {
  readonly entry: Entry;
  /** Of the store, for `isCurrent`. */
  readonly stamp: number;
  readonly bodies: HeldBodies;
}

export interface MemoryUse {
  readonly bytes: number;
  readonly pages: number;
  /** Answers that came from here, ever. */
  readonly hits: number;
}

export interface MemoryTier {
  /** What is held under a key, whether or not it is still what is stored. */
  readonly find: (key: CacheKey) => HeldPage | null;
  /** Holds what the store has just said; the bodies of the same version stay. */
  readonly hold: (key: CacheKey, entry: Entry, stamp: number) => void;
  /** Adds a body to the entry it belongs to, when that is held. */
  readonly holdBody: (key: CacheKey, entry: Entry, coding: ContentCoding, body: Buffer) => void;
  readonly drop: (key: CacheKey) => void;
  /** One more answer came from here. */
  readonly countHit: () => void;
  readonly use: () => MemoryUse;
}

/** A larger page would push out too many others. */
const BUDGET_SHARE_MAX = 1 / 8;
/** A decoded entry and its place in the list, by the characters of its text: measured, Node 20. */
const ENTRY_BYTES_PER_CHAR = 3;
/** A Buffer and what is under it, measured. */
const BODY_OVERHEAD_BYTES = 200;

/** @param bytesMax `memory.max_bytes`; 0 holds nothing */
export function createMemoryTier(bytesMax: number): MemoryTier {
  if (bytesMax < 1 / BUDGET_SHARE_MAX) return createNoMemory();
  const pageBytesMax = Math.floor(bytesMax * BUDGET_SHARE_MAX);
  const pages = new LRUCache<CacheKey, HeldPage>({
    maxSize: bytesMax,
    maxEntrySize: pageBytesMax,
    sizeCalculation: weighPage,
  });
  let hits = 0;
  return {
    find: (key) => pages.get(key) ?? null,
    hold: (key, entry, stamp) => {
      pages.set(key, { entry, stamp, bodies: keepBodies(pages.peek(key), entry) });
    },
    holdBody: (key, entry, coding, body) => {
      const held = pages.peek(key);
      if (held === undefined || !isSameVersion(held.entry, entry)) return;
      const page = { ...held, bodies: { ...held.bodies, [coding]: body } };
      // Too large with it: the entry and its other bodies are held all the same.
      if (weighPage(page) <= pageBytesMax) pages.set(key, page);
    },
    drop: (key) => void pages.delete(key),
    countHit: () => {
      hits += 1;
    },
    use: () => ({ bytes: pages.calculatedSize, pages: pages.size, hits }),
  };
}

function keepBodies(held: HeldPage | undefined, entry: Entry): HeldBodies {
  if (held === undefined || !isSameVersion(held.entry, entry)) return {};
  const kept = (['identity', 'gzip', 'br'] as const).flatMap((coding) => {
    const body = hasSameBody(held.entry, entry, coding) ? held.bodies[coding] : undefined;
    return body === undefined ? [] : [[coding, body] as const];
  });
  return Object.fromEntries(kept);
}

function weighPage({ entry, bodies }: HeldPage): number {
  let bytes = ENTRY_BYTES_PER_CHAR * encodeEntry(entry).length;
  for (const body of Object.values(bodies)) bytes += BODY_OVERHEAD_BYTES + body.length;
  return bytes;
}

function createNoMemory(): MemoryTier {
  return {
    find: () => null,
    hold: () => undefined,
    holdBody: () => undefined,
    drop: () => undefined,
    countHit: () => undefined,
    use: () => ({ bytes: 0, pages: 0, hits: 0 }),
  };
}
