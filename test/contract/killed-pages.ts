// The pages that the killed process and the one that looks after it agree on.
import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import type { Hasher } from '../../src/pipeline/ports.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import { HOUR_MS } from './stored-entries.ts';

export const PAGES = 1_000;
/** How many saves are under way at any moment. */
export const WRITERS = 8;

/** The page number `i` in one version; its length differs from version to version. */
export function makeKilledDraft(hasher: Hasher, i: number, version: string): PageDraft {
  const url = `https://example.com/page/${i}`;
  const ref = { hostId: 1, dimensionId: 1, hash: hasher.text(url) };
  const now = Date.now();
  return {
    key: formatCacheKey(ref),
    ref,
    url,
    source: 'origin',
    status: 200,
    headers: [['content-type', 'text/html']],
    body: makeBody(url, version),
    cachedAt: now,
    staleAt: now + HOUR_MS,
    deleteAt: now + 2 * HOUR_MS,
    tags: [],
    since: 0,
  };
}

/** Whether bytes are the whole body of some version of a page. */
export function isWholeBody(url: string, body: Buffer): boolean {
  const version = /^version (\S+)\n/.exec(body.toString('latin1'))?.[1];
  return version !== undefined && makeBody(url, version).equals(body);
}

function makeBody(url: string, version: string): Buffer {
  const line = `${url} ${version}\n`;
  return Buffer.from(`version ${version}\n${line.repeat(100 + 7 * version.length)}end`);
}
