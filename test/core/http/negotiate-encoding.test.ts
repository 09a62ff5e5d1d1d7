// Which coding a client gets, by real q-values.
import { describe, expect, it } from 'vitest';
import { negotiateEncoding, rankEncodings } from '../../../src/core/http/negotiate-encoding.ts';
import type { ContentCoding } from '../../../src/core/key/entry.ts';

const ALL: readonly ContentCoding[] = ['identity', 'gzip', 'br'];

describe('negotiateEncoding', () => {
  it.each<[string | null, ContentCoding]>([
    [null, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['zstd', 'identity'],
    ['identity', 'identity'],
    ['*', 'br'],
    ['*;q=0', 'identity'],
    ['identity;q=0', 'identity'],
    ['identity;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.5, br;q=0.4', 'gzip'],
    ['gzip;q=0.001', 'gzip'],
    ['gzip;q=0.5, identity;q=0.8', 'identity'],
    ['gzip;q=1, identity;q=1', 'gzip'],
    ['gzip;q=0, br;q=0', 'identity'],
    ['br ; q=0.5 , gzip ; Q=0.6', 'gzip'],
    ['gzip;q=2', 'identity'],
    ['gzip;q=-1', 'identity'],
    ['gzip;q=0.1234', 'identity'],
    ['gzip;q=', 'identity'],
    ['gzip;level=9', 'gzip'],
    ['gzip;q=0, gzip', 'identity'],
    [',,;q=1,', 'identity'],
    ['brotli, gzipped', 'identity'],
    ['__proto__', 'identity'],
  ])('%j → %s', (header, expected) => expect(negotiateEncoding(header, '1.1', ALL)).toBe(expected));

  it.each<[readonly ContentCoding[], ContentCoding]>([
    [['identity'], 'identity'],
    [['identity', 'gzip'], 'gzip'],
    [['identity', 'br'], 'br'],
  ])('among %j', (available, expected) => {
    expect(negotiateEncoding('gzip, br', '2.0', available)).toBe(expected);
  });

  it('HTTP/1.0 gets identity', () => {
    expect(negotiateEncoding('gzip, br', '1.0', ALL)).toBe('identity');
  });
});

describe('rankEncodings', () => {
  it.each<[string | null, readonly ContentCoding[]]>([
    [null, ['identity']],
    ['', ['identity']],
    ['gzip', ['gzip', 'identity']],
    ['gzip, br', ['br', 'gzip', 'identity']],
    ['br;q=0.1, gzip', ['gzip', 'br', 'identity']],
    ['br;q=0.1, identity;q=0.5', ['identity']],
    ['*', ['br', 'gzip', 'identity']],
    ['identity;q=0', ['identity']],
  ])('%j → %j', (header, expected) => {
    expect(rankEncodings(header, '1.1')).toEqual(expected);
  });
});
