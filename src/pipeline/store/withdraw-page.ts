// Takes out a page that may not be kept any longer, by the word of its origin: nobody asked for it,
// and fetches that are under way are no older than what is known now.

import type { BodyRef, CacheKey, Done } from '../ports.ts';
import { dropBodies, type PageStoreDeps } from './page-store-deps.ts';

/** Where a page is stored, and which it is. */
export interface StoredAddress {
  readonly key: CacheKey;
  readonly ref: BodyRef;
  /** Normalized. Of two pages with one key only this one goes. */
  readonly url: string;
}

/** The value says whether it was there. */
export async function withdrawPage(
  { key, ref, url }: StoredAddress,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  return await deps.turns.take(key, async () => {
    const found = await deps.entries.get(key);
    if (found.state === 'unavailable') return found;
    if (found.state !== 'found' || found.value.url !== url) return { state: 'done', value: false };
    // What has taken its place meanwhile is newer than what its origin said.
    const deleted = await deps.entries.delete(key, found.text);
    if (deleted.state === 'done' && deleted.value) await dropBodies(key, ref, deps);
    return deleted;
  });
}
