// What is compressed when a page is stored, and what is left alone.
import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compressBody, isCompressible } from '../../src/pipeline/store/compress-body.ts';

const MIB = 1024 * 1024;

test.each([
  ['text/html; charset=utf-8', 1_024, true],
  ['TEXT/HTML', 5_000, true],
  ['application/ld+json', 5_000, true],
  ['image/svg+xml', 5_000, true],
  ['text/html', 8 * MIB, true],
  ['text/html', 8 * MIB + 1, false],
  ['text/html', 1_023, false],
  ['text/html', 0, false],
  ['image/png', 5_000, false],
  ['application/octet-stream', 5_000, false],
  [null, 5_000, false],
] as const)('%s of %d bytes: %s', (contentType, bytes, expected) => {
  expect(isCompressible(bytes, contentType)).toBe(expected);
});

test('the codings decode to the body', async () => {
  const body = Buffer.from('words and words. '.repeat(500));
  const { gzip = Buffer.alloc(0), br = Buffer.alloc(0) } = await compressBody(body);
  expect(gunzipSync(gzip).equals(body)).toBe(true);
  expect(brotliDecompressSync(br).equals(body)).toBe(true);
});

test('what gets no smaller is left out', async () => {
  expect(await compressBody(randomBytes(5_000))).toEqual({});
});
