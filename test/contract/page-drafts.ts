// Pages for the suites that store them: whole drafts, of which a test says only what matters to it.
import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import type { Clock, Hasher } from '../../src/pipeline/ports.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import { makeBodies } from './stored-bodies.ts';
import { HOUR_MS } from './stored-entries.ts';

export type MakeDraft = (url: string, fields?: Partial<PageDraft>) => PageDraft;

/** A rendered page of host 1 and dimension 1, an hour fresh and one more stale. */
export function createDrafts(hasher: Hasher, clock: Clock): MakeDraft {
  return (url, fields = {}) => {
    const ref = fields.ref ?? { hostId: 1, dimensionId: 1, hash: hasher.text(url) };
    return {
      key: formatCacheKey(ref),
      ref,
      url,
      source: 'render',
      status: 200,
      headers: [['content-type', 'text/html; charset=utf-8']],
      body: makeBodies(url).identity,
      cachedAt: clock.now(),
      staleAt: clock.now() + HOUR_MS,
      deleteAt: clock.now() + 2 * HOUR_MS,
      tags: [],
      since: 0,
      ...fields,
    };
  };
}
