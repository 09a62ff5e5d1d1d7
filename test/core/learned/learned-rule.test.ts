// Learned rules as text and back, how many there may be, and which stored URLs they make one page.
import { describe, expect, test } from 'vitest';
import { parseNoVarySearch } from '../../../src/core/http/no-vary-search.ts';
import {
  decodeLearned,
  encodeLearned,
  findRoom,
  LEARNED_KEEP_MS,
  LEARNED_PATHS_MAX,
  type LearnedRule,
  learnedName,
} from '../../../src/core/learned/learned-rule.ts';
import { compileSamePage } from '../../../src/core/learned/same-page.ts';

const ADDRESS = 'https://site.test/list';

export function learnedRule(header: string, changes: Partial<LearnedRule> = {}): LearnedRule {
  const variance = parseNoVarySearch([header]);
  if (variance === null) throw new Error(`${header} says nothing`);
  return { hostId: 1, address: ADDRESS, header, variance, from: ADDRESS, at: 5, ...changes };
}

test('a rule is read as it was written', () => {
  const rule = learnedRule('key-order, params=("sid")', { from: `${ADDRESS}?sid=1` });
  expect(decodeLearned(learnedName(1, ADDRESS), encodeLearned(rule))).toEqual(rule);
});

test.each([
  ['another name', 'x', '{"header":"params","from":"x","at":1}'],
  ['host 0', `0 ${ADDRESS}`, '{"header":"params","from":"x","at":1}'],
  ['an address with a space', `1 ${ADDRESS} x`, '{"header":"params","from":"x","at":1}'],
  ['no JSON', `1 ${ADDRESS}`, '{'],
  ['no object', `1 ${ADDRESS}`, '[]'],
  ['a header that says nothing', `1 ${ADDRESS}`, '{"header":"params=?0","from":"x","at":1}'],
  ['a time that is none', `1 ${ADDRESS}`, '{"header":"params","from":"x","at":9e15}'],
  [
    'a text that is too long',
    `1 ${ADDRESS}`,
    `{"header":"params","from":"x","at":1}${' '.repeat(2 ** 15)}`,
  ],
])('%s is nobody’s rule', (_what, name, text) => expect(decodeLearned(name, text)).toBeNull());

test('the oldest of a host goes for one more, unless it was said lately', () => {
  const rules = Array.from({ length: LEARNED_PATHS_MAX }, (_unused, place) =>
    learnedRule('params', { address: `https://site.test/${place}`, at: 1_000 - place }),
  );
  const other = learnedRule('params', { hostId: 2, at: 0 });
  const table = new Map(
    [...rules, other].map((one) => [learnedName(one.hostId, one.address), one]),
  );
  const last = `https://site.test/${LEARNED_PATHS_MAX - 1}`;
  const late = { at: 2 + LEARNED_KEEP_MS };
  expect(findRoom(table, learnedRule('params', late))).toEqual([learnedName(1, last)]);
  expect(findRoom(table, learnedRule('params', { at: 1 + LEARNED_KEEP_MS }))).toBeNull();
  expect(findRoom(table, learnedRule('params', { address: last }))).toEqual([]);
  expect(findRoom(table, learnedRule('params', { hostId: 2 }))).toEqual([]);
});

describe('one page under a rule', () => {
  // purged URL, header, stored URL
  const CASES: readonly (readonly [string, string | null, string, boolean])[] = [
    ['/list?a=1', 'params=("sid")', '/list?a=1&sid=7', true],
    ['/list?a=1', 'params=("sid")', '/list?sid=7&a=1&sid', true],
    ['/list', 'params=("sid")', '/list?sid=7', true],
    ['/list?a=1', 'params=("sid")', '/list?a=2&sid=7', false],
    ['/list?a=1', 'params=("sid")', '/list?SID=7&a=1', false],
    ['/list?a=1', 'params=("sid")', '/other?a=1&sid=7', false],
    ['/list?a=1', 'params=("sid")', '/list/?a=1', false],
    ['/list?a=1', 'params, except=("a")', '/list?a=1&b=2&c', true],
    ['/list?a=1&b=2', 'key-order', '/list?b=2&a=1', true],
    ['/list?a=1&a=2', 'key-order', '/list?a=2&a=1', false],
    ['/list?a=1', 'params=("%C3%A9")', '/list?%C3%A9=3&a=1', true],
    ['/list?a=1', null, '/list?a=1', true],
    ['/list?a=1', null, '/list?a=1&sid=7', false],
    ['/list?a=1', 'no dictionary!', '/list?a=1&sid=7', false],
  ];
  test.each(CASES)('%s with %s: %s', (url, header, stored, expected) => {
    const isMeant = compileSamePage(`https://site.test${url}`, header);
    expect(isMeant(`https://site.test${stored}`)).toBe(expected);
  });
});
