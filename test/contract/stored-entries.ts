// Entries for the store suites: one good one, and tables of what a store may find in its place.

import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import type { Entry } from '../../src/core/key/entry.ts';
import { encodeEntry } from '../../src/core/key/entry-codec.ts';
import type { CacheKey, Done, EntryStore } from '../../src/pipeline/ports.ts';

export const HOUR_MS = 3_600_000;

/** Two URLs with one XXH64 each; attacks.md D01 and the pairs of the normalization vectors. */
export const COLLISIONS = [
  {
    name: 'D01',
    hash: '05bb2ffd0a6862b6',
    first: `https://example.com/search?q=000JJrSJbFO${'b'.repeat(24)}Sl4dpiwu${'b'.repeat(24)}`,
    second: `https://example.com/search?q=000huMeli51${'b'.repeat(24)}Ck8zt4Xl${'b'.repeat(24)}`,
  },
  {
    name: 'N255 and N256',
    hash: '068905331204159a',
    first: 'https://example.com/products/spring-collection/blue-suede-shoes-42',
    second: 'https://example.com/prodfI7ho5fQing-collection/blue-suedj-c0qTbA42',
  },
  {
    name: 'N259 and N260',
    hash: '0443fc8d42ba4515',
    first: 'https://example.com/blog/2024/how-to-choose-winter-boots',
    second: 'https://example.com/blog/2024/hoCKI5AgIYVieJg8LXer-boots',
  },
] as const;

/** A good entry, one hour fresh and one more stale, with the given fields in place of its own. */
export function makeEntry(fields: Partial<Entry> = {}, nowMs = Date.now()): Entry {
  return {
    schema: 1,
    url: 'https://example.com/',
    hostId: 1,
    dimensionId: 1,
    hash: '0123456789abcdef',
    source: 'render',
    status: 200,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['link', '</a>; rel=next'],
      ['link', '</b>; rel=prev'],
    ],
    cachedAt: nowMs,
    staleAt: nowMs + HOUR_MS,
    deleteAt: nowMs + 2 * HOUR_MS,
    modifiedAt: nowMs,
    bodies: { identity: { bytes: 5, hash: 'fedcba9876543210' } },
    ...fields,
  };
}

/** The key an entry belongs under. */
export function keyOf(entry: Entry): string {
  return formatCacheKey(entry);
}

/** The text of a good entry with some fields replaced by whatever is given; undefined removes. */
export function spoil(fields: Record<string, unknown>, nowMs = Date.now()): string {
  return JSON.stringify({ ...JSON.parse(encodeEntry(makeEntry({}, nowMs))), ...fields });
}

/** Stored texts that must never be served: attacks.md H15, H16, H18, H19. */
export const DAMAGED_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['not JSON', 'hello'],
  ['null', 'null'],
  ['a number', '42'],
  ['an array', '[]'],
  ['a string', '"x"'],
  ['truncated', spoil({}).slice(0, -10)],
  ['10 MB', `"${'x'.repeat(10_000_000)}"`],
  ['nested 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['status 999', spoil({ status: 999 })],
  ['status 99', spoil({ status: 99 })],
  ['status as text', spoil({ status: '200' })],
  ['status with a fraction', spoil({ status: 200.5 })],
  ['headers as an object', spoil({ headers: { x: 'a' } })],
  ['header that splits the response', spoil({ headers: [['x', 'a\r\nSet-Cookie: b']] })],
  ['header with LF alone', spoil({ headers: [['x', 'a\nb']] })],
  ['header with NUL', spoil({ headers: [['x', 'a\0b']] })],
  ['header beyond latin-1', spoil({ headers: [['x', '\u{1F600}']] })],
  ['header name with a space', spoil({ headers: [['a b', 'c']] })],
  ['empty header name', spoil({ headers: [['', 'c']] })],
  ['header value that is a number', spoil({ headers: [['a', 1]] })],
  ['header without a value', spoil({ headers: [['a']] })],
  ['1,000 headers', spoil({ headers: Array.from({ length: 1_000 }, (_, i) => [`x-${i}`, 'y']) })],
  ['Transfer-Encoding', spoil({ headers: [['Transfer-Encoding', 'chunked']] })],
  ['Content-Length', spoil({ headers: [['content-length', '5']] })],
  ['Connection', spoil({ headers: [['connection', 'close']] })],
  ['Set-Cookie', spoil({ headers: [['set-cookie', 'a=b']] })],
  ['Content-Encoding', spoil({ headers: [['content-encoding', 'gzip']] })],
  ['no URL', spoil({ url: undefined })],
  ['URL with a line end', spoil({ url: 'https://example.com/\r\nx' })],
  ['URL of another scheme', spoil({ url: 'file:///etc/passwd' })],
  ['unknown source', spoil({ source: 'moon' })],
  ['negative time', spoil({ cachedAt: -1 })],
  ['time that is not a number', spoil({ staleAt: Number.NaN })],
  ['time as text', spoil({ deleteAt: '9999999999999' })],
  ['time beyond exact numbers', spoil({ deleteAt: 1e300 })],
  ['stale before cached', spoil({ staleAt: 1 })],
  ['deleted before stale', spoil({ deleteAt: Date.now() + 1 })],
  ['no bodies', spoil({ bodies: undefined })],
  ['bodies without identity', spoil({ bodies: { gzip: { bytes: 1, hash: '0'.repeat(16) } } })],
  ['body length negative', spoil({ bodies: { identity: { bytes: -1, hash: '0'.repeat(16) } } })],
  ['body hash too short', spoil({ bodies: { identity: { bytes: 1, hash: '0' } } })],
  ['key of another host', spoil({ hostId: 2 })],
  ['key of another dimension', spoil({ dimensionId: 2 })],
  ['key of another hash', spoil({ hash: '0'.repeat(16) })],
  ['host id that is a path', spoil({ hostId: '../1' })],
];

/** Entries of another format version: H20, and H18, whose fields are nobody's. */
export const FOREIGN_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['newer schema', spoil({ schema: 2 })],
  ['schema as text', spoil({ schema: '1' })],
  ['no schema', spoil({ schema: undefined })],
  ['an empty object', '{}'],
  ['fields only by prototype', `{"__proto__":${spoil({})}}`],
];

/** Deletes whatever entry there is; the value says whether there was one. */
export async function deleteEntry(store: EntryStore, key: CacheKey): Promise<Done<boolean>> {
  const found = await store.get(key);
  if (found.state === 'unavailable') return found;
  if (found.state !== 'found') return { state: 'done', value: false };
  return await store.delete(key, found.text);
}
