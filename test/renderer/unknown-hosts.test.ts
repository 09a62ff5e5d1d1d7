// Hosts a render service doesn't know: each is told once a minute, and whoever asks for many names
// does not fill the log.
import { expect, test } from 'vitest';
import { createUnknownHostTeller } from '../../src/renderer/server/unknown-hosts.ts';

const MINUTE_MS = 60_000;
type Asked = readonly [atMs: number, host: string];

const many = (count: number, atMs = 0): readonly Asked[] =>
  Array.from({ length: count }, (_, index): Asked => [atMs, `${index}.test`]);

test.each<[string, readonly Asked[], number]>([
  ['one, many times', [...Array(50).keys()].map((ms): Asked => [ms, 'a.test']), 1],
  ['two', [...many(2), ...many(2)], 2],
  [
    'one, a minute later',
    [
      [0, 'a.test'],
      [MINUTE_MS - 1, 'a.test'],
      [MINUTE_MS, 'a.test'],
    ],
    2,
  ],
  ['too many', many(1_000), 100],
  ['too many, in each of two minutes', [...many(1_000), ...many(1_000, MINUTE_MS)], 200],
])('%s', (_what, asked, lines) => {
  let nowMs = 0;
  const told: unknown[] = [];
  const tell = createUnknownHostTeller(
    (level, _message, { host }) => {
      expect(level).toBe('warn');
      told.push(host);
    },
    () => nowMs,
  );
  for (const [atMs, host] of asked) {
    nowMs = atMs;
    tell(host);
  }
  expect(told).toHaveLength(lines);
});

test('a name is no longer than names are', () => {
  let told = '';
  const tell = createUnknownHostTeller(
    (_level, _message, { host }) => {
      told = String(host);
    },
    () => 0,
  );
  tell('a'.repeat(10_000));
  expect(told).toHaveLength(253);
});
