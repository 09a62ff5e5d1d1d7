// Which of two patterns says more: what it is before how much of it is literal. It puts dimensions
// and rules in their fixed order.
import type { Pattern, PatternKind } from './parse-pattern.ts';

/** Smaller is stronger. */
export const KIND_RANKS: Readonly<Record<PatternKind, number>> = {
  exact: 0,
  wildcard: 1,
  regexp: 2,
};

/** Characters that are no `*`, nor the mark of a regular expression. */
export function countLiterals({ source }: Pattern): number {
  return source.replace(/^~\*?/, '').replaceAll('*', '').length;
}
