// The one URL rule that applies to a request: rules are sorted at load time, the first match wins.
import { foldCase } from '../pattern/fold-case.ts';
import type { NormalizationPolicy, QueryCondition, Rule } from '../policy/policy.ts';
import { pairsUnder, pairValue } from '../url/read-pairs.ts';
import type { ParsedUrl } from '../url/read-url.ts';
import type { RuleIndex } from './index-rules.ts';

export interface RuleInput {
  /** The normalized path (see resolvePath), never the raw one. */
  readonly path: string;
  readonly parsed: ParsedUrl;
  /** Upper-case. */
  readonly method: string;
  /** How the host reads `+` and empty pieces. */
  readonly normalization: NormalizationPolicy;
}

export interface RuleMatch {
  /** The first of the sorted rules that matches, or null. */
  readonly rule: Rule | null;
  /** Whether another query could have led to another rule. */
  readonly readsQuery: boolean;
}

export const NO_RULE: RuleMatch = { rule: null, readsQuery: false };

export function matchRule(rules: RuleIndex, input: RuleInput): RuleMatch {
  // ASCII, whose lower case is the folded one.
  const folded = input.path.toLowerCase();
  let values: ReadonlyMap<string, readonly string[]> | null = null;
  for (const rule of rules.candidates(folded)) {
    if (rule.methods !== null && !rule.methods.has(input.method)) continue;
    if (!rule.pattern.matches(input.path, folded)) continue;
    if (rule.query.length === 0) return { rule, readsQuery: values !== null };
    values ??= collectValues(input);
    if (matchesQuery(rule.query, values)) return { rule, readsQuery: true };
  }
  return values === null ? NO_RULE : { rule: null, readsQuery: true };
}

function collectValues({
  parsed,
  normalization,
}: RuleInput): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of pairsUnder(parsed.search, normalization)) {
    const name = pair.name.text;
    const value = pairValue(parsed.bytes, pair, normalization);
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

/** Every name must be there, with any of its values matching any of the condition's. */
function matchesQuery(
  conditions: readonly QueryCondition[],
  values: ReadonlyMap<string, readonly string[]>,
): boolean {
  return conditions.every((condition) =>
    values.get(condition.name)?.some((value) => matchesValue(condition, value)),
  );
}

function matchesValue(condition: QueryCondition, value: string): boolean {
  return condition.values.some((pattern) =>
    pattern.source === '*' ? value !== '' : pattern.matches(value, foldCase(value)),
  );
}
