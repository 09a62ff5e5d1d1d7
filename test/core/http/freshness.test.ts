// The three instants of an entry, also when the clock or the entry is wrong.
import { describe, expect, it } from 'vitest';
import {
  ageSeconds,
  freshnessAt,
  type Instants,
  startLifetime,
  ttlSeconds,
} from '../../../src/core/http/freshness.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

describe('startLifetime', () => {
  it.each([
    ['no jitter', 0, 0.9, HOUR],
    ['least', 0.1, 0, HOUR * 0.9],
    ['middle', 0.1, 0.5, HOUR],
    ['most', 0.1, 1, HOUR * 1.1],
    ['widest', 0.5, 0, HOUR * 0.5],
  ])('jitter: %s', (_what, jitter, random, ttlMs) => {
    const instants = startLifetime(NOW, { ttlMs: HOUR, staleTtlMs: 10, jitter }, random);
    expect(instants).toEqual({
      cachedAt: NOW,
      staleAt: NOW + Math.round(ttlMs),
      deleteAt: NOW + Math.round(ttlMs) + 10,
    });
  });
});

describe('freshnessAt', () => {
  const entry: Instants = { cachedAt: NOW, staleAt: NOW + HOUR, deleteAt: NOW + 2 * HOUR };
  it.each<[string, Partial<Instants>, number, string]>([
    ['just stored', {}, NOW, 'fresh'],
    ['a moment before', {}, NOW + HOUR - 1, 'fresh'],
    ['at staleAt', {}, NOW + HOUR, 'stale'],
    ['a moment before the end', {}, NOW + 2 * HOUR - 1, 'stale'],
    ['at deleteAt', {}, NOW + 2 * HOUR, 'expired'],
    ['no stale time', { deleteAt: NOW + HOUR }, NOW + HOUR, 'expired'],
    ['clocks a little apart', {}, NOW - 1_000, 'fresh'],
    ['H19: the clock went back', {}, NOW - HOUR, 'stale'],
    [
      'H19: stored in a far future',
      { cachedAt: NOW * 2, staleAt: NOW * 2, deleteAt: NOW * 2 },
      NOW,
      'stale',
    ],
    ['H19: living for ever', { deleteAt: NOW * 1_000 }, NOW, 'expired'],
    [
      'H19: seconds for milliseconds',
      { cachedAt: 1.8e9, staleAt: 1.9e9, deleteAt: 2e9 },
      NOW,
      'expired',
    ],
    ['H19: negative', { cachedAt: -1 }, NOW, 'expired'],
    ['H19: no number', { staleAt: Number.NaN }, NOW, 'expired'],
    ['H19: no number at the end', { deleteAt: Number.NaN }, NOW, 'expired'],
    ['H19: infinite', { deleteAt: Number.POSITIVE_INFINITY }, NOW, 'expired'],
    ['H19: out of order', { staleAt: NOW - 1 }, NOW, 'expired'],
  ])('%s', (_what, changes, now, expected) => {
    expect(freshnessAt({ ...entry, ...changes }, now)).toBe(expected);
  });

  it.each([
    [NOW, 0, 3_600],
    [NOW + 1_999, 1, 3_598],
    [NOW + HOUR + 1, 3_600, -1],
    [NOW - HOUR, 0, 7_200],
  ])('at %i the age is %i and the ttl %i', (now, age, ttl) => {
    expect(ageSeconds(entry, now)).toBe(age);
    expect(ttlSeconds(entry, now)).toBe(ttl);
  });
});
