// Stored pages as the phases use them: metadata and bodies together. What holds here: a page is
// only ever answered for the URL it was stored under, with the very bytes that were stored; a store
// that can't be asked is never taken for a miss.
import { setTimeout as wait } from 'node:timers/promises';
import { freshnessAt } from '../core/http/freshness.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import { dropBodies, dropPage, type PageStoreDeps } from './page-store-deps.ts';
import type { BodyRef, CacheKey, ContentCoding, Done, Entry, Found } from './ports.ts';
import { type PurgeMode, purgeHostPages, purgePage } from './purge-stored.ts';
import { type PageDraft, type Saved, savePage } from './save-page.ts';

export type LookUp =
  | { readonly state: 'hit'; readonly entry: Entry; readonly freshness: 'fresh' | 'stale' }
  | { readonly state: 'absent'; readonly reason: 'absent' | 'expired' | 'collision' | 'damaged' }
  | { readonly state: 'unavailable'; readonly reason: string };

export interface PageStore {
  readonly lookUp: (key: CacheKey, ref: BodyRef, url: string) => Promise<LookUp>;
  /**
   * The bytes of one coding of an entry that was just looked up. `damaged` for the reason
   * `replaced` means that a newer version has taken its place: looking up again finds it.
   */
  readonly readBody: (entry: Entry, coding: ContentCoding) => Promise<Found<Buffer>>;
  readonly save: (draft: PageDraft) => Promise<Saved>;
  /** Takes one page out; another page with the same key stays. Says whether there was one. */
  readonly purge: (
    key: CacheKey,
    ref: BodyRef,
    url: string,
    mode: PurgeMode,
  ) => Promise<Done<boolean>>;
  /** Takes out every page of a host; says how many. */
  readonly purgeHost: (hostId: number, mode: PurgeMode) => Promise<Done<number>>;
}

/** How long another process may take from renaming the new bodies to writing their metadata. */
const REPLACING_MS = 100;

/** Makes the page store over one entry store and one body store. */
export function createPageStore(deps: PageStoreDeps): PageStore {
  return {
    lookUp: (key, ref, url) => lookUpPage(key, ref, url, deps),
    readBody: (entry, coding) => readPageBody(entry, coding, deps),
    save: (draft) => savePage(draft, deps),
    purge: (key, ref, url, mode) => purgePage({ key, ref, url }, mode, deps),
    purgeHost: (hostId, mode) => purgeHostPages(hostId, mode, deps),
  };
}

async function lookUpPage(
  key: CacheKey,
  ref: BodyRef,
  url: string,
  deps: PageStoreDeps,
): Promise<LookUp> {
  const found = await deps.entries.get(key);
  if (found.state === 'unavailable') return found;
  if (found.state === 'absent') return { state: 'absent', reason: 'absent' };
  if (found.state === 'damaged') {
    deps.onEvent({ kind: 'entry_damaged', key, reason: found.reason });
    await dropBodies(key, ref, deps);
    return { state: 'absent', reason: 'damaged' };
  }
  const entry = found.value;
  if (entry.url !== url) {
    deps.onEvent({ kind: 'collision', key, url });
    return { state: 'absent', reason: 'collision' };
  }
  const freshness = freshnessAt(entry, deps.clock.now());
  if (freshness === 'expired') return { state: 'absent', reason: 'expired' };
  return { state: 'hit', entry, freshness };
}

async function readPageBody(
  entry: Entry,
  coding: ContentCoding,
  deps: PageStoreDeps,
): Promise<Found<Buffer>> {
  const digest = entry.bodies[coding];
  if (digest === undefined) throw new RangeError(`${entry.url} is not stored as ${coding}`);
  const found = await deps.bodies.read(entry, coding, digest);
  if (found.state === 'found' || found.state === 'unavailable') return found;
  const key = formatCacheKey(entry.hostId, entry.dimensionId, entry.hash);
  const current = await readSettledEntry(key, entry, deps);
  if (current.state === 'unavailable') return current;
  if (current.state !== 'found') return { state: 'absent' };
  if (!isSameVersion(current.value, entry)) return { state: 'damaged', reason: 'replaced' };
  const reason = found.state === 'damaged' ? found.reason : 'missing';
  deps.onEvent({ kind: 'body_damaged', key, reason });
  await dropPage(key, entry, deps);
  return { state: 'damaged', reason };
}

/** Bodies are replaced before their metadata, so the entry is given a moment to follow. */
async function readSettledEntry(
  key: CacheKey,
  entry: Entry,
  deps: PageStoreDeps,
): Promise<Found<Entry>> {
  const current = await deps.entries.get(key);
  if (current.state !== 'found' || !isSameVersion(current.value, entry)) return current;
  await wait(REPLACING_MS);
  return deps.entries.get(key);
}

function isSameVersion(a: Entry, b: Entry): boolean {
  return a.url === b.url && a.cachedAt === b.cachedAt && haveSameBodies(a, b);
}

function haveSameBodies(a: Entry, b: Entry): boolean {
  return (['identity', 'gzip', 'br'] as const).every(
    (coding) => a.bodies[coding]?.hash === b.bodies[coding]?.hash,
  );
}
