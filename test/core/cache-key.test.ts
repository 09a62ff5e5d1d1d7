// The cache key as text and back: only what formatting writes is parsed.
import { expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import {
  bodyFileName,
  formatCacheKey,
  formatCacheKeyPrefix,
  parseCacheKey,
} from '../../src/core/key/cache-key.ts';
import { COLLISIONS } from '../contract/stored-entries.ts';
import vectors from '../vectors/normalization.json' with { type: 'json' };

const HASH = '96ba2d5b7d32d005';

test.each([
  [1, 1, 'cache:1:1:96ba2d5b7d32d005'],
  [42, 0, 'cache:42:0:96ba2d5b7d32d005'],
  [9_999_999_999, 12, 'cache:9999999999:12:96ba2d5b7d32d005'],
])('host %d and dimension %d give %s and back', (hostId, dimensionId, key) => {
  expect(formatCacheKey({ hostId, dimensionId, hash: HASH })).toBe(key);
  expect(parseCacheKey(key)).toEqual({ hostId, dimensionId, hash: HASH });
});

test.each([
  '',
  'cache:1:1',
  'cache:1:1:',
  'cache:0:1:96ba2d5b7d32d005',
  'cache:01:1:96ba2d5b7d32d005',
  'cache:1:01:96ba2d5b7d32d005',
  'cache:-1:1:96ba2d5b7d32d005',
  'cache:1*:1:96ba2d5b7d32d005',
  'cache:1:1:96BA2D5B7D32D005',
  'cache:1:1:96ba2d5b7d32d0050',
  'cache:1:1:96ba2d5b7d32d005\n',
  ' cache:1:1:96ba2d5b7d32d005',
  'Cache:1:1:96ba2d5b7d32d005',
  'cache:1:1:../../../etc/pas',
  'cache:99999999999:1:96ba2d5b7d32d005',
])('%j is not a key', (text) => {
  expect(parseCacheKey(text)).toBeNull();
});

test.each([
  [0, 1, HASH],
  [1.5, 1, HASH],
  [1, -1, HASH],
  [1, Number.NaN, HASH],
  [1, 1, '../x'],
  [1, 1, HASH.toUpperCase()],
])('host %s, dimension %s, hash %s never become a name', (hostId, dimensionId, hash) => {
  expect(() => formatCacheKey({ hostId, dimensionId, hash })).toThrow(RangeError);
  if (hostId !== 0 && hostId !== 1.5) {
    expect(() => bodyFileName({ hash, dimensionId })).toThrow(RangeError);
  }
});

test('prefixes and body names', () => {
  expect(formatCacheKeyPrefix(1)).toBe('cache:1:');
  expect(formatCacheKeyPrefix(1, 2)).toBe('cache:1:2:');
  expect(bodyFileName({ hash: HASH, dimensionId: 2 })).toBe('96ba2d5b7d32d005_2.html');
});

test('the hasher agrees with every vector that names a hash', async () => {
  const hasher = await createHasher();
  const hashed = vectors.flatMap((vector) =>
    'xxh64' in vector && vector.xxh64 ? [{ text: vector.expected, hash: vector.xxh64 }] : [],
  );
  expect(hashed.length).toBeGreaterThan(5);
  for (const { text, hash } of hashed) {
    expect([text, hasher.text(String(text))]).toEqual([text, hash]);
    expect([text, hasher.bytes(Buffer.from(String(text)))]).toEqual([text, hash]);
  }
});

test.each(COLLISIONS)('$name: two URLs, one hash', async ({ first, second, hash }) => {
  const hasher = await createHasher();
  expect(first).not.toBe(second);
  expect([hasher.text(first), hasher.text(second)]).toEqual([hash, hash]);
});

test('hashes are padded to 16 digits', async () => {
  const hasher = await createHasher();
  const texts = Array.from({ length: 2_000 }, (_, i) => `page-${i}`);
  expect(texts.every((text) => /^[0-9a-f]{16}$/.test(hasher.text(text)))).toBe(true);
  expect(texts.every((text) => hasher.text(text) === hasher.bytes(Buffer.from(text)))).toBe(true);
  expect(texts.some((text) => hasher.text(text).startsWith('0'))).toBe(true);
});
