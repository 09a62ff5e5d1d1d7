// Step 7, choosing: which pairs stay and in what order. What is dropped here is never sent to the
// renderer or to a cacheable origin fetch.
import { matters } from '../http/no-vary-search.ts';
import type { LearnedRule } from '../learned/learned-rule.ts';
import type {
  DroppedPair,
  NormalizationPolicy,
  StripPolicy,
  StrippedPair,
} from '../policy/policy.ts';
import { compareNames, judgeName } from './param-name.ts';
import { hasValue, pairValue, type QueryPair } from './read-pairs.ts';

export interface StripResult {
  readonly kept: readonly QueryPair[];
  readonly stripped: readonly StrippedPair[];
}

/** Up to here, putting each in its place costs less than the engine's own sort. */
const FEW_PAIRS = 40;

const NOTHING_STRIPPED: readonly StrippedPair[] = [];

/** Drops tracking parameters pair by pair, by decoded name. */
export function stripPairs(pairs: readonly QueryPair[], tracking: StripPolicy): StripResult {
  if (!tracking.strip) return { kept: pairs, stripped: NOTHING_STRIPPED };
  let kept: QueryPair[] | null = null;
  let stripped: StrippedPair[] | null = null;
  for (let at = 0; at < pairs.length; at += 1) {
    const pair = pairs[at];
    const verdict = pair === undefined ? null : judgeName(pair.name, tracking);
    if (verdict !== null) {
      kept ??= pairs.slice(0, at);
      if (stripped === null) stripped = [verdict];
      else stripped.push(verdict);
    } else if (kept !== null && pair !== undefined) kept.push(pair);
  }
  return { kept: kept ?? pairs, stripped: stripped ?? NOTHING_STRIPPED };
}

/** Drops what the origin has said doesn't matter. */
export function dropLearned(pairs: readonly QueryPair[], rule: LearnedRule): StripResult {
  const kept: QueryPair[] = [];
  const stripped: StrippedPair[] = [];
  for (const pair of pairs) {
    const name = pair.name.text;
    if (matters(name, rule.variance)) kept.push(pair);
    else stripped.push({ name, pattern: rule.header, level: 'learned' });
  }
  return { kept, stripped };
}

/**
 * Drops pairs that equal the page's default value (`?sort=relevance`).
 *
 * @param bytes what the places of the pairs are in
 */
export function dropDefaultValues(
  bytes: Uint8Array,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): readonly QueryPair[] {
  const { defaultValues } = policy;
  if (defaultValues.size === 0) return pairs;
  return pairs.filter(
    (pair) => defaultValues.get(pair.name.text) !== pairValue(bytes, pair, policy),
  );
}

/** What went between two steps. */
export function listDropped(
  before: readonly QueryPair[],
  after: readonly QueryPair[],
  reason: DroppedPair['reason'],
): readonly DroppedPair[] {
  const kept = new Set(after);
  return before.filter((pair) => !kept.has(pair)).map(({ name }) => ({ name: name.text, reason }));
}

/** A pair with neither name nor value vanishes; with `empty_values: drop` any without a value. */
export function dropEmptyPairs(
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): readonly QueryPair[] {
  if (policy.emptyValues === 'drop') return pairs.filter(hasValue);
  return policy.encoding === 'preserve' ? pairs : pairs.filter(saysAnything);
}

function saysAnything(pair: QueryPair): boolean {
  return pair.equalsAt > pair.start || hasValue(pair);
}

/** Stable by the bytes of the decoded name: repeated names keep their order. */
export function sortPairs(pairs: readonly QueryPair[]): readonly QueryPair[] {
  const first = findDisorder(pairs);
  if (first === -1) return pairs;
  if (pairs.length > FEW_PAIRS) return pairs.toSorted((a, b) => compareNames(a.name, b.name));
  const sorted = pairs.slice();
  for (let at = first; at < sorted.length; at += 1) sinkPair(sorted, at);
  return sorted;
}

/** The first that should be before the one before it, or -1. */
function findDisorder(pairs: readonly QueryPair[]): number {
  let before = pairs[0];
  for (let at = 1; at < pairs.length; at += 1) {
    const pair = pairs[at];
    if (before === undefined || pair === undefined) return -1;
    if (compareNames(before.name, pair.name) > 0) return at;
    before = pair;
  }
  return -1;
}

/** Moves a pair behind those before it that are sorted, and behind those of the same name. */
function sinkPair(sorted: QueryPair[], from: number): void {
  const pair = sorted[from];
  if (pair === undefined) return;
  let at = from;
  for (; at > 0; at -= 1) {
    const before = sorted[at - 1];
    if (before === undefined || compareNames(before.name, pair.name) <= 0) break;
    sorted[at] = before;
  }
  sorted[at] = pair;
}
