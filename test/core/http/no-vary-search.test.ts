// What a No-Vary-Search header says, in the examples of its draft and in what hostile or mistaken
// origins might send; and that what we write is read back as it was meant.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatNoVarySearch, parseNoVarySearch } from '../../../src/core/http/no-vary-search.ts';

const LONG = 'x'.repeat(300);

/** `drop a b`, `keep a`, with `ordered` where the order of names matters. */
function read(...lines: readonly string[]): string {
  const variance = parseNoVarySearch(lines);
  if (variance === null) return 'nothing';
  const { ignoresOrder, mode, names } = variance;
  return [ignoresOrder ? 'any order' : 'ordered', mode, ...names].join(' ');
}

describe('the examples of the draft', () => {
  test.each([
    ['key-order', 'any order drop'],
    [
      'params=("utm_source" "utm_medium" "utm_campaign")',
      'ordered drop utm_source utm_medium utm_campaign',
    ],
    ['params, except=("productId")', 'ordered keep productId'],
    ['params', 'ordered keep'],
    ['params=("a")', 'ordered drop a'],
    ['except=("x")', 'ordered keep x'],
    ['except=()', 'ordered keep'],
    ['params=?1', 'ordered keep'],
    ['key-order=?1', 'any order drop'],
    ['params, key-order, except=("x")', 'any order keep x'],
    ['params=("%C3%A9+%E6%B0%97")', 'ordered drop é 気'],
    ['params=?0', 'nothing'],
    ['params=()', 'nothing'],
    ['key-order=?0', 'nothing'],
    ['unknown-key', 'nothing'],
    ['key-order="not a boolean"', 'nothing'],
    ['params="not a boolean or inner list"', 'nothing'],
    ['params=(not-a-string)', 'nothing'],
    ['params=("a"), except=("x")', 'nothing'],
    ['params=(), except=()', 'nothing'],
    ['params=?0, except=("x")', 'nothing'],
    ['params, except=(not-a-string)', 'nothing'],
    ['params, except="not an inner list"', 'nothing'],
    ['params, except=?1', 'nothing'],
  ])('%s', (line, expected) => expect(read(line)).toBe(expected));
});

describe('structured fields are read to the letter', () => {
  test.each([
    [['params=("a")', 'key-order'], 'any order drop a'],
    [['params=("a"), params=("b")'], 'ordered drop b'],
    [['  params=(  "a"   "b" )\t,\tkey-order  '], 'any order drop a b'],
    [['params=("a";x "b";y=1;z="q");w, key-order;v=?0'], 'any order drop a b'],
    [
      ['params=("a"), other=1.5, more=:aGk=:, when=@123, d=%"a%c3%a9", t=a/b:c, l=(1 x "s")'],
      'ordered drop a',
    ],
    [[String.raw`params=("a\"b" "c\\d")`], String.raw`ordered drop a"b c\d`],
    [['params=("")'], 'ordered drop '],
    [['params=("%" "%zz" "a+b")'], 'ordered drop % %zz a b'],
    [['params=("a" "a")'], 'ordered drop a'],
    [['params=("A" "a")'], 'ordered drop A a'],
    [[], 'nothing'],
    [[''], 'nothing'],
    [['', 'key-order'], 'nothing'],
    [['params=("a"),'], 'nothing'],
    [[',params'], 'nothing'],
    [['params=("a" "b"'], 'nothing'],
    [['params=("a""b")'], 'nothing'],
    [['params=("a",  "b")'], 'nothing'],
    [["params=('a')"], 'nothing'],
    [['params = ("a")'], 'nothing'],
    [['params=("a") key-order'], 'nothing'],
    [['Params'], 'nothing'],
    [['params=("é")'], 'nothing'],
    [[String.raw`params=("a\b")`], 'nothing'],
    [['params=("a"), x=-'], 'nothing'],
    [['params;'], 'nothing'],
  ])('%j', (lines, expected) => expect(read(...lines)).toBe(expected));
});

test.each([
  ['long', Array.from({ length: 20 }, () => LONG)],
  ['many', Array.from({ length: 300 }, (_unused, place) => `n${place}`)],
])('names that are too %s say nothing', (_what, list) => {
  const text = `params=(${list.map((name) => `"${name}"`).join(' ')})`;
  expect(read(text)).toBe('nothing');
});

const names = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string()), { maxLength: 8 });

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.constantFrom('drop', 'keep'), names, (order, mode, list) => {
      const variance = { ignoresOrder: order, mode, names: new Set(list) } as const;
      const text = formatNoVarySearch(variance);
      const isNothing = !order && mode === 'drop' && variance.names.size === 0;
      expect(parseNoVarySearch([text])).toEqual(isNothing ? null : variance);
      expect(text).toMatch(/^[ -~]*$/);
    }),
    { numRuns: 2_000 },
  );
});

test('any bytes are read without an error', () => {
  const bits = fc.constantFrom(
    'params',
    'except',
    'key-order',
    '=',
    '(',
    ')',
    '"',
    ',',
    ' ',
    ';',
    '?1',
    '\\',
    'a',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(bits).map((all) => all.join('')),
      ),
      (text) => {
        const variance = parseNoVarySearch([text]);
        if (variance !== null) expect(read(formatNoVarySearch(variance))).toBe(read(text));
      },
    ),
    { numRuns: 5_000 },
  );
});
