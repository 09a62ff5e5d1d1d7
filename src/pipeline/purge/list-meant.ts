// The stored entries that a purge means, found the cheapest way there is: a URL by its keys, and
// what hangs on them; everything else by looking at all of them.
import { formatCacheKey, parseCacheKey } from '../../core/key/cache-key.ts';
import { compileSelector } from '../../core/purge/match-selector.ts';
import type { PurgeSelector } from '../../core/purge/purge-record.ts';
import type { CacheKey, Done, EntryFilter, EntryStore, StoredEntry } from '../ports.ts';

type UrlSelector = Extract<PurgeSelector, { readonly kind: 'url' }>;

interface Stored {
  readonly entries: EntryStore;
}

/**
 * In slices, as from the store: an entry may come twice, a slice that is `unavailable` is the last.
 */
export async function* listMeant(
  selector: PurgeSelector,
  deps: Stored,
): AsyncGenerator<Done<readonly StoredEntry[]>> {
  const isMeant = compileSelector(selector);
  const slices =
    selector.kind === 'url' ? listUrl(selector, deps) : deps.entries.entries(filterOf(selector));
  for await (const slice of slices) {
    yield slice.state === 'unavailable'
      ? slice
      : { state: 'done', value: slice.value.filter(({ entry }) => isMeant(entry)) };
  }
}

function filterOf(selector: Exclude<PurgeSelector, UrlSelector>): EntryFilter {
  return selector.kind === 'all' ? {} : { hostId: selector.hostId ?? undefined };
}

async function* listUrl(
  selector: UrlSelector,
  deps: Stored,
): AsyncGenerator<Done<readonly StoredEntry[]>> {
  const { keys, learned } = selector;
  const places = await findPlaces(selector, deps);
  const own = places.state === 'unavailable' ? places : await readAll(places.value, deps);
  yield own;
  if (own.state === 'unavailable') return;
  const variants = own.value.flatMap(({ entry }) => variantKeys(entry));
  if (variants.length > 0) yield await readAll(variants, deps);
  // What was stored under other spellings, before they were known to be one page.
  if (learned === undefined) return;
  for (const hostId of new Set(keys.map((key) => parseCacheKey(key)?.hostId))) {
    yield* deps.entries.entries({ hostId });
  }
}

/** Also in dimensions that are not configured: what they left comes back with them. */
async function findPlaces(
  { keys, dimensionId }: UrlSelector,
  { entries }: Stored,
): Promise<Done<readonly CacheKey[]>> {
  const page = parseCacheKey(keys[0] ?? '');
  if (dimensionId !== undefined || page === null) return { state: 'done', value: keys };
  const ids = await entries.dimensions(page.hostId);
  if (ids.state === 'unavailable') return ids;
  const all = ids.value.map((id) => formatCacheKey({ ...page, dimensionId: id }));
  return { state: 'done', value: [...new Set([...keys, ...all])] };
}

function variantKeys({ hostId, dimensionId, variants }: StoredEntry['entry']): readonly CacheKey[] {
  return variants?.hashes.map((hash) => formatCacheKey({ hostId, dimensionId, hash })) ?? [];
}

async function readAll(
  keys: readonly CacheKey[],
  { entries }: Stored,
): Promise<Done<readonly StoredEntry[]>> {
  const value: StoredEntry[] = [];
  for (const { key, found } of await Promise.all(
    keys.map(async (one) => ({ key: one, found: await entries.get(one) })),
  )) {
    if (found.state === 'unavailable') return found;
    if (found.state === 'found') value.push({ key, entry: found.value });
  }
  return { state: 'done', value };
}
