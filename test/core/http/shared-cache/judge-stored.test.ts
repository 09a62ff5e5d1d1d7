// What a request may do with a stored answer: RFC 9111 §4 and §5.2.1, RFC 5861 §3, RFC 8246.
import { describe, expect, test } from 'vitest';
import {
  judgeStored,
  mergeFields,
  validationFields,
} from '../../../../src/core/http/shared-cache/judge-stored.ts';
import type { HeaderList } from '../../../../src/pipeline/ports.ts';

const CACHED_AT = 1_000_000_000_000;
const LIFETIME_SECONDS = 100;

interface Stored {
  readonly control: string;
  readonly ageSeconds?: number;
}

/** @param atSeconds since it was stored */
function judge({ control, ageSeconds = 0 }: Stored, asked: HeaderList, atSeconds: number): string {
  const leftSeconds = Math.max(0, LIFETIME_SECONDS - ageSeconds);
  const now = CACHED_AT + atSeconds * 1000;
  const staleAt = CACHED_AT + leftSeconds * 1000;
  return judgeStored(
    {
      headers: [['Cache-Control', control]],
      initialAgeMs: ageSeconds * 1000,
      cachedAt: CACHED_AT,
      staleAt,
    },
    asked,
    now < staleAt ? 'fresh' : 'stale',
    now,
  );
}

const wants = (control: string): HeaderList => [['Cache-Control', control]];
const PLAIN = 'max-age=100';

describe('a request and a stored answer', () => {
  test.each<[string, string, HeaderList, number, string]>([
    ['fresh', PLAIN, [], 99, 'fresh'],
    ['at its end', PLAIN, [], 100, 'validate'],
    ['no-cache', PLAIN, wants('no-cache'), 1, 'validate'],
    ['Pragma', PLAIN, [['Pragma', 'no-cache']], 1, 'validate'],
    ['Pragma beside Cache-Control', PLAIN, [['Pragma', 'no-cache'], ...wants('a')], 1, 'fresh'],
    ['max-age of the request', PLAIN, wants('max-age=10'), 11, 'validate'],
    ['within max-age of the request', PLAIN, wants('max-age=10'), 9, 'fresh'],
    ['min-fresh', PLAIN, wants('min-fresh=10'), 95, 'validate'],
    ['max-stale', PLAIN, wants('max-stale=10'), 105, 'stale'],
    ['max-stale exceeded', PLAIN, wants('max-stale=10'), 115, 'validate'],
    ['max-stale without a number', PLAIN, wants('max-stale'), 9_999, 'stale'],
    ['must-revalidate when fresh', `${PLAIN}, must-revalidate`, [], 50, 'fresh'],
    ['must-revalidate', `${PLAIN}, must-revalidate`, wants('max-stale'), 105, 'validate'],
    ['s-maxage', 's-maxage=100', wants('max-stale'), 105, 'validate'],
    ['stale-while-revalidate', `${PLAIN}, stale-while-revalidate=9`, [], 105, 'refresh'],
    ['after that', `${PLAIN}, stale-while-revalidate=9`, [], 110, 'validate'],
    [
      'stale-while-revalidate forbidden',
      `${PLAIN}, stale-while-revalidate=9, must-revalidate`,
      [],
      105,
      'validate',
    ],
    ['immutable, asked for anew', `${PLAIN}, immutable`, wants('no-cache'), 5, 'fresh'],
    ['immutable, and stale', `${PLAIN}, immutable`, [], 105, 'validate'],
    ['credentials', PLAIN, [['Authorization', 'x']], 1, 'validate'],
    ['credentials of a site', PLAIN, [['X-Api-Key', 'x']], 1, 'validate'],
    ['credentials, public', `${PLAIN}, public`, [['Authorization', 'x']], 1, 'fresh'],
  ])('%s', (_name, control, asked, atSeconds, expected) => {
    expect(judge({ control }, asked, atSeconds)).toBe(expected);
  });

  test('what was old when it came is stale so much earlier', () => {
    expect(judge({ control: PLAIN, ageSeconds: 60 }, [], 39)).toBe('fresh');
    expect(judge({ control: PLAIN, ageSeconds: 60 }, [], 41)).toBe('validate');
    expect(judge({ control: PLAIN, ageSeconds: 600 }, [], 0)).toBe('validate');
  });

  test('what the store calls stale is not fresh', () => {
    const stored = { headers: wants(PLAIN), initialAgeMs: 0, cachedAt: 0, staleAt: 100_000 };
    expect(judgeStored(stored, [], 'stale', 1_000)).toBe('validate');
  });
});

describe('validation', () => {
  test('asks with what the origin has given', () => {
    expect(
      validationFields([
        ['ETag', '"a"'],
        ['Last-Modified', 'yesterday'],
      ]),
    ).toEqual([
      ['If-None-Match', '"a"'],
      ['If-Modified-Since', 'yesterday'],
    ]);
    expect(validationFields([])).toEqual([]);
  });

  test('a 304 renews all fields of one name, but none that describe the bytes', () => {
    const stored: HeaderList = [
      ['ETag', '"a"'],
      ['Link', 'a'],
      ['Link', 'b'],
      ['Content-Encoding', 'br'],
      ['X-Kept', '1'],
    ];
    const renewed: HeaderList = [
      ['etag', '"b"'],
      ['link', 'c'],
      ['content-encoding', 'gzip'],
      ['X-New', '2'],
    ];
    expect(mergeFields(stored, renewed)).toEqual([
      ['ETag', '"a"'],
      ['Content-Encoding', 'br'],
      ['X-Kept', '1'],
      ['link', 'c'],
      ['X-New', '2'],
    ]);
  });

  test('a 304 without a date does not keep the old one', () => {
    expect(mergeFields([['Date', 'yesterday']], [])).toEqual([]);
    expect(mergeFields([['Date', 'yesterday']], [['Date', 'today']])).toEqual([['Date', 'today']]);
  });
});
