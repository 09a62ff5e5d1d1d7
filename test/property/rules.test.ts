// The index of rules as a law: for any rules and any path, it leaves out none that matches, and
// keeps their order. And it leaves out nearly all of a thousand rules for a thousand sections.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldCase } from '../../src/core/pattern/fold-case.ts';
import type { Rule } from '../../src/core/policy/policy.ts';
import { indexRules } from '../../src/core/routing/index-rules.ts';
import { sortRules } from '../../src/core/routing/sort-rules.ts';
import { rule } from '../helpers/policies.ts';

const matching = (rules: readonly Rule[], path: string): readonly Rule[] =>
  rules.filter(({ pattern }) => pattern.matches(path, foldCase(path)));

/** Few letters, so that texts begin with one another; K, the Kelvin sign and İ fold unlike others. */
const text = fc
  .array(fc.constantFrom('a', 'B', 'k', 'K', '\u212a', '\u0130', '/', '-', '.'), { maxLength: 5 })
  .map((letters) => `/${letters.join('')}`);

const literal = text.map((some) => some.replaceAll('.', '\\.'));

const match = fc.oneof(
  text,
  text.map((some) => `${some}*`),
  text.map((some) => `*${some}`),
  fc.tuple(text, text).map(([some, more]) => `${some}*${more}`),
  fc
    .tuple(
      fc.constantFrom('~', '~*', '~^', '~*^'),
      literal,
      fc.constantFrom('', '$', '*', '?', '+', '{0}', '{0,2}', '|/b', '(a|k)', '[ak]', '.', '\\d'),
    )
    .map((parts) => parts.join('')),
);

const anyRules = fc
  .array(fc.record({ match, priority: fc.constantFrom(0, 1) }), { maxLength: 12 })
  .map((some) => sortRules(some.map(({ match, priority }) => rule(match, { priority }))));

test('no rule that matches is left out, and the order stays', () => {
  fc.assert(
    fc.property(anyRules, text, (rules, path) => {
      const candidates = indexRules(rules).candidates(foldCase(path));
      expect(matching(candidates, path)).toEqual(matching(rules, path));
    }),
    { numRuns: 10_000 },
  );
});

test('of rules for a thousand sections a request is compared with those of its own', () => {
  const sections = Array.from({ length: 1_000 }, (_, i) => [
    rule(`/section-${i}/`),
    rule(`/section-${i}/*`),
    rule(`~^/section-${i}/\\d+$`),
  ]);
  const index = indexRules(sortRules([...sections.flat(), rule('*.pdf')]));
  const sources = (path: string): readonly string[] =>
    index.candidates(path).map(({ pattern }) => pattern.source);
  expect(sources('/section-500/12')).toEqual([
    '/section-500/',
    '/section-500/*',
    '*.pdf',
    '~^/section-500/\\d+$',
  ]);
  expect(sources('/elsewhere')).toEqual(['*.pdf']);
});
