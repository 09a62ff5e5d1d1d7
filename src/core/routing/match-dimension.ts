// Which kind of client a request comes from, by User-Agent. The order is fixed at load time: block
// dimensions first, exact > wildcard > regexp, more literal characters, lower id.
import { LIMITS } from '../limits.ts';
import type { Pattern } from '../pattern/parse-pattern.ts';
import { compilePatternSet } from '../pattern/pattern-set.ts';
import { countLiterals, KIND_RANKS } from '../pattern/rank-pattern.ts';
import type { Dimension, HostPolicy } from '../policy/policy.ts';
import { remember } from '../remember.ts';

export interface DimensionMatch {
  readonly dimension: Dimension | 'block';
  /** The User-Agent pattern that matched, or null when none did. */
  readonly matchedBy: string | null;
}

export interface DimensionIndex {
  readonly find: (userAgent: string) => DimensionMatch;
}

interface Candidate {
  readonly dimension: Dimension;
  readonly pattern: Pattern;
}

export function indexDimensions({
  dimensions,
  unmatched,
}: Pick<HostPolicy, 'dimensions' | 'unmatched'>): DimensionIndex {
  const candidates: Candidate[] = dimensions.flatMap((dimension) =>
    dimension.matchUserAgent.map((pattern) => ({ dimension, pattern })),
  );
  const sorted = candidates.toSorted(
    (a, b) =>
      Number(b.dimension.action === 'block') - Number(a.dimension.action === 'block') ||
      KIND_RANKS[a.pattern.kind] - KIND_RANKS[b.pattern.kind] ||
      countLiterals(b.pattern) - countLiterals(a.pattern) ||
      a.dimension.id - b.dimension.id,
  );
  const set = compilePatternSet(sorted, (candidate) => candidate.pattern);
  const nothing: DimensionMatch = { dimension: unmatched, matchedBy: null };
  const match = remember((userAgent): DimensionMatch => {
    const found = set.find(userAgent);
    if (found === undefined) return nothing;
    return { dimension: found.dimension, matchedBy: found.pattern.source };
  });
  // A cap before any pattern: hostile User-Agents cost no more than honest ones.
  return { find: (userAgent) => match(userAgent.slice(0, LIMITS.userAgentCharsMax)) };
}
