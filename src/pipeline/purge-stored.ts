// Takes stored pages out on request. The URL is compared first: of two pages with one key only the
// one that was asked for goes.
import { parseCacheKey } from '../core/key/cache-key.ts';
import { dropBodies, type PageStoreDeps } from './page-store-deps.ts';
import type { BodyRef, CacheKey, Done, Entry } from './ports.ts';

export interface PurgeMode {
  /** Only counts. */
  readonly dryRun: boolean;
  /** Marks stale instead of deleting: served until it is refreshed. */
  readonly soft: boolean;
}

export interface StoredAddress {
  readonly key: CacheKey;
  readonly ref: BodyRef;
  readonly url: string;
}

/** How many pages of a host are taken out at once. */
const PAGES_AT_ONCE = 16;

const NOTHING: Done<boolean> = { state: 'done', value: false };
const ONE: Done<boolean> = { state: 'done', value: true };

/** Takes out one page, when it is that of the URL; says whether it was. */
export async function purgePage(
  { key, ref, url }: StoredAddress,
  mode: PurgeMode,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const found = await deps.entries.get(key);
  if (found.state === 'unavailable') return found;
  if (found.state !== 'found' || found.value.url !== url) return NOTHING;
  if (mode.dryRun) return ONE;
  return mode.soft ? markStale(key, found.value, deps) : deletePage(key, ref, deps);
}

/** Takes out every page of a host, also those of another format version; says how many. */
export async function purgeHostPages(
  hostId: number,
  mode: PurgeMode,
  deps: PageStoreDeps,
): Promise<Done<number>> {
  const counted = new Set<CacheKey>();
  for await (const page of deps.entries.keys({ hostId })) {
    if (page.state === 'unavailable') return page;
    const keys = page.value.filter((key) => !counted.has(key));
    for (let from = 0; from < keys.length; from += PAGES_AT_ONCE) {
      const some = keys.slice(from, from + PAGES_AT_ONCE);
      const results = await Promise.all(some.map((key) => purgeKey(key, mode, deps)));
      for (const [i, done] of results.entries()) {
        if (done.state === 'unavailable') return done;
        const key = some[i];
        if (done.value && key !== undefined) counted.add(key);
      }
    }
  }
  return { state: 'done', value: counted.size };
}

async function purgeKey(
  key: CacheKey,
  mode: PurgeMode,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const ref = parseCacheKey(key);
  if (ref === null) return NOTHING;
  if (!mode.dryRun && !mode.soft) return deletePage(key, ref, deps);
  const found = await deps.entries.get(key);
  if (found.state === 'unavailable') return found;
  if (found.state !== 'found') return NOTHING;
  return mode.dryRun ? ONE : markStale(key, found.value, deps);
}

async function markStale(key: CacheKey, entry: Entry, deps: PageStoreDeps): Promise<Done<boolean>> {
  const now = deps.clock.now();
  const cachedAt = Math.min(entry.cachedAt, now);
  const put = await deps.entries.put(key, {
    ...entry,
    cachedAt,
    staleAt: Math.min(entry.staleAt, now),
  });
  return put.state === 'unavailable' ? put : ONE;
}

/** The entry goes first: a body without one is never served. */
async function deletePage(
  key: CacheKey,
  ref: BodyRef,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const deleted = await deps.entries.delete(key);
  if (deleted.state === 'done') await dropBodies(key, ref, deps);
  return deleted;
}
