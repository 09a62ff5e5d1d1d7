// The bench's own arithmetic, by hand.
import { describe, expect, test } from 'vitest';
import { BENCH_PAGES } from './bench-pages.ts';
import { describeRatios, formatTable, median, percentile, type Round } from './report.ts';

const round = (changes: Partial<Round>): Round => ({
  wallSeconds: 60,
  cpuSeconds: 30,
  latenciesMs: [100, 200, 300],
  wrong: [],
  peakBytes: 1_048_576,
  ...changes,
});

test.each([
  { numbers: [3, 1, 2], part: 0.5, expected: 2 },
  { numbers: [1, 2, 3, 4], part: 0.5, expected: 2 },
  { numbers: [1, 2, 3, 4], part: 0.95, expected: 4 },
  { numbers: [1, 2, 3, 4], part: 0, expected: 1 },
  { numbers: [], part: 0.5, expected: Number.NaN },
])('percentile $part of $numbers', ({ numbers, part, expected }) => {
  expect(percentile(numbers, part)).toBe(expected);
});

test.each([
  { numbers: [5], expected: 5 },
  { numbers: [9, 1, 5], expected: 5 },
  { numbers: [10, 2, 4, 8], expected: 6 },
])('median of $numbers', ({ numbers, expected }) => {
  expect(median(numbers)).toBe(expected);
});

describe('two contenders', () => {
  const left = {
    name: 'left',
    rounds: [{ wallSeconds: 30 }, { wallSeconds: 20 }, { wallSeconds: 60 }].map(round),
  };
  const right = { name: 'right', rounds: [{}, { wrong: ['/x'] }, { cpuSeconds: 60 }].map(round) };

  test('ratios are taken by round', () => {
    expect(describeRatios(left, right, ({ wallSeconds }) => wallSeconds)).toBe(
      '0.33 – 0.50 – 1.00',
    );
  });

  test('nothing has a ratio to nothing', () => {
    expect(describeRatios(left, right, ({ wrong }) => wrong.length)).toBe('');
  });

  test('the table has medians', () => {
    const lines = formatTable(left, right).split('\n');
    expect(lines[0]).toBe('| median of 3 rounds | left | right | ratio: min – median – max |');
    expect(lines).toContain('| pages a minute a core | 6 | 6 | 1.00 – 1.00 – 2.00 |');
    expect(lines).toContain('| pages a minute | 6 | 3 | 1.00 – 2.00 – 3.00 |');
    expect(lines).toContain('| latency p95, ms | 300 | 300 | 1.00 – 1.00 – 1.00 |');
  });
});

test('every page of the bench is another one', () => {
  expect(new Set(BENCH_PAGES.map(({ path }) => path)).size).toBe(BENCH_PAGES.length);
});
