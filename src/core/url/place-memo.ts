// Whose URL it is, by the bytes it begins with: hosts are few, and requests come host by host.
import { addToHash, createByteMemo, HASH_START, isAt } from '../byte-memo.ts';
import { endsSite, findSiteEnd } from './cut-url.ts';

export interface KnownSite<T> {
  /** Up to the path, as they were written. */
  readonly bytes: Uint8Array;
  readonly value: T;
}

export interface PlaceMemo<T> {
  /** @param bytes of a URL, from its beginning */
  readonly find: (bytes: Uint8Array) => KnownSite<T> | undefined;
  readonly keep: (bytes: Uint8Array, siteEnd: number, value: T) => void;
}

export function createPlaceMemo<T>(): PlaceMemo<T> {
  const sites = createByteMemo<KnownSite<T>>();
  let last: KnownSite<T> | undefined;
  return {
    find: (bytes) => {
      // Most often the one of the URL before, and then its end is known without a look.
      if (last !== undefined && beginsWith(bytes, last.bytes)) return last;
      const siteEnd = findSiteEnd(bytes);
      const known = sites.find(hashOf(bytes, siteEnd), bytes, 0, siteEnd);
      if (known !== undefined) last = known;
      return known;
    },
    keep: (bytes, siteEnd, value) => {
      const kept = bytes.slice(0, siteEnd);
      sites.keep(hashOf(bytes, siteEnd), kept, { bytes: kept, value });
    },
  };
}

function beginsWith(bytes: Uint8Array, site: Uint8Array): boolean {
  return isAt(site, bytes, 0, site.length) && endsSite(bytes[site.length]);
}

function hashOf(bytes: Uint8Array, to: number): number {
  let hash = HASH_START;
  for (let at = 0; at < to; at += 1) hash = addToHash(hash, bytes[at] ?? 0);
  return hash;
}
