// Which rule wins, fixed at load time so that a request only takes the first that matches.
// spec: configuration, "URL rules".
import type { Pattern } from '../pattern/parse-pattern.ts';
import { countLiterals, KIND_RANKS } from '../pattern/rank-pattern.ts';
import type { Rule } from '../policy/policy.ts';

/**
 * Sorts by higher `priority`, exact before wildcard before regexp, with `match_query` before
 * without, more `/` in the pattern, more literal characters, then file order.
 */
export function sortRules(rules: readonly Rule[]): readonly Rule[] {
  return rules.toSorted(
    (a, b) =>
      b.priority - a.priority ||
      KIND_RANKS[a.pattern.kind] - KIND_RANKS[b.pattern.kind] ||
      Number(b.query.length > 0) - Number(a.query.length > 0) ||
      countSlashes(b.pattern) - countSlashes(a.pattern) ||
      countLiterals(b.pattern) - countLiterals(a.pattern) ||
      a.order - b.order,
  );
}

function countSlashes(pattern: Pattern): number {
  return pattern.source.split('/').length - 1;
}
