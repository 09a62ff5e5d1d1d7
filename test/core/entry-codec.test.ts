// What comes out of a store is checked field by field: attacks.md H15, H16, H18, H19, H20.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEntry, ENTRY_AGE_MAX_MS, encodeEntry } from '../../src/core/key/entry-codec.ts';
import {
  DAMAGED_TEXTS,
  FOREIGN_TEXTS,
  HOUR_MS,
  keyOf,
  makeEntry,
  spoil,
} from '../contract/stored-entries.ts';

const NOW = Date.now();
const KEY = keyOf(makeEntry());
const decode = (text: string, nowMs = NOW) => decodeEntry(text, KEY, nowMs);

test('a good entry comes back as it was', () => {
  const entry = makeEntry(
    {
      bodies: {
        identity: { bytes: 5, hash: '0'.repeat(16) },
        gzip: { bytes: 3, hash: '1'.repeat(16) },
        br: { bytes: 2, hash: '2'.repeat(16) },
      },
    },
    NOW,
  );
  expect(decode(encodeEntry(entry))).toEqual({ state: 'entry', entry });
});

test('a page that was not ready stays marked, and by nothing but its mark', () => {
  expect(decode(spoil({ partial: true }, NOW))).toMatchObject({ entry: { partial: true } });
  for (const partial of [false, 1, 'true', null]) {
    expect(decode(spoil({ partial }, NOW))).toEqual({ state: 'invalid', reason: 'bad_partial' });
  }
});

describe('an answer that was passed on', () => {
  const exchange = {
    headers: [
      ['Content-Encoding', 'br'],
      ['Via', '1.1 a'],
    ],
    initialAgeMs: 5,
    selecting: [['accept', 'a']],
  };
  const variants = { names: ['accept'], generation: 7, hashes: ['0'.repeat(16)] };

  test('comes back as it was', () => {
    expect(decode(spoil({ exchange }, NOW))).toMatchObject({ entry: { exchange } });
    expect(decode(spoil({ variants }, NOW))).toMatchObject({ entry: { variants } });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no record', { exchange: [] }, 'bad_exchange'],
    ['no age', { exchange: { ...exchange, initialAgeMs: -1 } }, 'bad_exchange'],
    ['no fields', { exchange: { ...exchange, headers: null } }, 'bad_headers'],
    ['a cookie', { exchange: { ...exchange, headers: [['Set-Cookie', 'a=b']] } }, 'refused_header'],
    [
      'framing',
      { exchange: { ...exchange, headers: [['Content-Length', '1']] } },
      'refused_header',
    ],
    ['a split', { exchange: { ...exchange, headers: [['a', 'b\r\nc: d']] } }, 'bad_header_value'],
    [
      'selected by a split',
      { exchange: { ...exchange, selecting: [['a', '\n']] } },
      'bad_header_value',
    ],
    ['no index', { variants: 1 }, 'bad_variants'],
    ['no names', { variants: { ...variants, names: ['a b'] } }, 'bad_variants'],
    ['no hashes', { variants: { ...variants, hashes: ['../x'] } }, 'bad_variants'],
    ['no generation', { variants: { ...variants, generation: 'x' } }, 'bad_variants'],
    [
      'too many',
      { variants: { ...variants, hashes: Array.from({ length: 33 }, () => '0'.repeat(16)) } },
      'bad_variants',
    ],
  ])('%s is not served', (_name, fields, reason) => {
    expect(decode(spoil(fields, NOW))).toEqual({ state: 'invalid', reason });
  });
});

describe('never served', () => {
  test.each([['empty', ''] as const, ...DAMAGED_TEXTS])('%s', (_name, text) => {
    expect(decode(text).state).toBe('invalid');
  });
});

describe('of another version, left alone', () => {
  test.each(FOREIGN_TEXTS)('%s', (_name, text) => {
    expect(decode(text).state).toBe('foreign');
  });
});

test('unknown fields are not taken over, and the last of duplicate keys counts', () => {
  const text = spoil({ admin: true }, NOW).replace('"status":200', '"status":999,"status":404');
  const decoded = decode(text);
  expect(decoded.state === 'entry' && decoded.entry.status).toBe(404);
  expect(JSON.stringify(decoded)).not.toContain('admin');
  expect(decode(text.replace('"status":404', '"status":404,"status":999')).state).toBe('invalid');
});

test('an own __proto__ changes nothing', () => {
  const decoded = decode(spoil({}, NOW).replace('{', '{"__proto__":{"polluted":1},'));
  expect(decoded).toEqual({ state: 'entry', entry: makeEntry({}, NOW) });
  expect(Object.hasOwn({}, 'polluted') || 'polluted' in {}).toBe(false);
});

describe('times', () => {
  const times = (cachedAt: number, staleAt: number, deleteAt: number) =>
    decode(spoil({ cachedAt, staleAt, deleteAt, modifiedAt: cachedAt }, NOW));

  test('after deleteAt it has expired', () => {
    expect(times(NOW - 2, NOW - 1, NOW).state).toBe('expired');
  });

  test('seconds in place of milliseconds have expired long ago', () => {
    const seconds = Math.floor(NOW / 1000);
    expect(times(seconds, seconds + 3600, seconds + 7200).state).toBe('expired');
  });

  test('an entry from the future is stale at once', () => {
    const decoded = times(NOW + HOUR_MS, NOW + 2 * HOUR_MS, NOW + 3 * HOUR_MS);
    expect(decoded).toMatchObject({ entry: { cachedAt: NOW, staleAt: NOW, modifiedAt: NOW } });
  });

  test('a clock that is a little ahead is believed', () => {
    const decoded = times(NOW + 500, NOW + HOUR_MS, NOW + HOUR_MS);
    expect(decoded).toMatchObject({ entry: { cachedAt: NOW + 500, staleAt: NOW + HOUR_MS } });
  });

  test('far times are clamped', () => {
    const decoded = times(NOW, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    const last = NOW + ENTRY_AGE_MAX_MS;
    expect(decoded).toMatchObject({ entry: { staleAt: last, deleteAt: last } });
  });
});

test('decoding is total: any JSON, any text, any single spoiled field', () => {
  const fields = Object.keys(makeEntry());
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc
          .tuple(fc.constantFrom(...fields), fc.jsonValue())
          .map(([field, value]) => spoil({ [field]: value }, NOW)),
      ),
      (text) => {
        const decoded = decode(text);
        if (decoded.state !== 'entry') return;
        const { entry } = decoded;
        expect(keyOf(entry)).toBe(KEY);
        expect(entry.cachedAt).toBeLessThanOrEqual(entry.staleAt);
        expect(entry.staleAt).toBeLessThanOrEqual(entry.deleteAt);
        expect(decode(encodeEntry(entry))).toEqual(decoded);
      },
    ),
    { numRuns: 3_000 },
  );
});
