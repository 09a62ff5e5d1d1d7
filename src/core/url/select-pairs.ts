// Step 7, choosing: which pairs stay and in what order. What is dropped here is never sent to the
// renderer or to a cacheable origin fetch.
import { matters } from '../http/no-vary-search.ts';
import type { LearnedRule } from '../learned/learned-rule.ts';
import type { NormalizationPolicy, PolicyLevel, StripPolicy } from '../policy/policy.ts';
import { pairName, pairValue, type QueryPair } from './parse-query.ts';

/**
 * One dropped parameter: its decoded name, the pattern that matched and the level of that pattern.
 * `learned`: the pattern is what the origin said.
 */
export interface StrippedPair {
  readonly name: string;
  readonly pattern: string;
  readonly level: PolicyLevel | 'learned';
}

export interface StripResult {
  readonly kept: readonly QueryPair[];
  readonly stripped: readonly StrippedPair[];
}

/** Up to here, putting each in its place costs less than the engine's own sort. */
const FEW_PAIRS = 12;

const NOTHING_STRIPPED: readonly StrippedPair[] = [];

/** Drops tracking parameters pair by pair, by decoded name. */
export function stripPairs(pairs: readonly QueryPair[], tracking: StripPolicy): StripResult {
  if (!tracking.strip || pairs.length === 0) return { kept: pairs, stripped: NOTHING_STRIPPED };
  const kept: QueryPair[] = [];
  const stripped: StrippedPair[] = [];
  for (const pair of pairs) {
    const name = pairName(pair);
    const match = tracking.matcher.find(name);
    if (tracking.mode === 'strip') {
      if (match === undefined) kept.push(pair);
      else stripped.push({ name, pattern: match.pattern.source, level: match.level });
    } else if (match === undefined) {
      stripped.push({ name, pattern: 'params_keep', level: tracking.level });
    } else {
      kept.push(pair);
    }
  }
  return { kept, stripped };
}

/** Drops what the origin has said doesn't matter. */
export function dropLearned(pairs: readonly QueryPair[], rule: LearnedRule | null): StripResult {
  if (rule === null) return { kept: pairs, stripped: NOTHING_STRIPPED };
  const kept: QueryPair[] = [];
  const stripped: StrippedPair[] = [];
  for (const pair of pairs) {
    const name = pairName(pair);
    if (matters(name, rule.variance)) kept.push(pair);
    else stripped.push({ name, pattern: rule.header, level: 'learned' });
  }
  return { kept, stripped };
}

/** Drops pairs that equal the page's default value (`?sort=relevance`). */
export function dropDefaultValues(
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): readonly QueryPair[] {
  if (policy.defaultValues.size === 0) return pairs;
  return keepWhere(pairs, (pair) => policy.defaultValues.get(pairName(pair)) !== pairValue(pair));
}

/** A pair with neither name nor value vanishes; with `empty_values: drop` any without a value. */
export function dropEmptyPairs(
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): readonly QueryPair[] {
  if (policy.emptyValues === 'drop') return keepWhere(pairs, hasValue);
  return policy.encoding === 'preserve' ? pairs : keepWhere(pairs, saysAnything);
}

function hasValue({ value }: QueryPair): boolean {
  return value !== '';
}

function saysAnything({ name, value }: QueryPair): boolean {
  return name !== '' || value !== '';
}

/** Nearly always all of them. */
function keepWhere(
  pairs: readonly QueryPair[],
  stays: (pair: QueryPair) => boolean,
): readonly QueryPair[] {
  return pairs.every(stays) ? pairs : pairs.filter(stays);
}

/** Stable by the bytes of the decoded name: repeated names keep their order. */
export function sortPairs(pairs: readonly QueryPair[]): readonly QueryPair[] {
  if (isSorted(pairs)) return pairs;
  if (pairs.length > FEW_PAIRS) {
    return pairs.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }
  const sorted: QueryPair[] = [];
  for (const pair of pairs) insertByName(sorted, pair);
  return sorted;
}

/** Behind those of the same name. */
function insertByName(sorted: QueryPair[], pair: QueryPair): void {
  let at = sorted.length;
  for (; at > 0; at -= 1) {
    const before = sorted[at - 1];
    if (before === undefined || before.name <= pair.name) break;
    sorted[at] = before;
  }
  sorted[at] = pair;
}

function isSorted(pairs: readonly QueryPair[]): boolean {
  let previous = '';
  for (const { name } of pairs) {
    if (name < previous) return false;
    previous = name;
  }
  return true;
}
