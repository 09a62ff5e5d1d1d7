// Tracking parameters: built-in list → global → host → rule, spec: url-and-key. A level's answer is
// a plain list of patterns with the level each came from, so `explain` can name the very line.
import type { Pattern } from '../pattern/parse-pattern.ts';
import { compilePatternSet } from '../pattern/pattern-set.ts';
import type { PolicyLevel, StripPolicy, StrippedPair } from '../policy/policy.ts';
import { remember } from '../remember.ts';

/** One `tracking_params` block; presets are already expanded into patterns by the caller. */
export interface TrackingBlock {
  readonly strip?: boolean | undefined;
  readonly params?: readonly Pattern[] | undefined;
  readonly paramsAdd?: readonly Pattern[] | undefined;
  readonly paramsRemove?: readonly Pattern[] | undefined;
  readonly paramsKeep?: readonly Pattern[] | undefined;
  readonly presets?: readonly Pattern[] | undefined;
}

/** Nothing listed yet: what level 0 starts from. */
export const EMPTY_STRIP_POLICY: StripPolicy = buildStripPolicy({
  strip: true,
  mode: 'strip',
  level: 'default',
  patterns: [],
});

/**
 * Applies one level's block to what it inherits.
 *
 * `params_keep` turns the level into an allow-list; below it, a level that names `params`,
 * `params_add` or `presets` extends that allow-list only by `params_keep`, and goes back to a strip
 * list only by writing `params`.
 */
export function resolveTracking(
  inherited: StripPolicy,
  block: TrackingBlock | undefined,
  level: PolicyLevel,
): StripPolicy {
  if (block === undefined) return inherited;
  const strip = block.strip ?? inherited.strip;
  const at = (patterns: readonly Pattern[] = []) => patterns.map((pattern) => ({ pattern, level }));

  if (block.paramsKeep !== undefined) {
    return buildStripPolicy({ strip, mode: 'keep', level, patterns: at(block.paramsKeep) });
  }
  if (inherited.mode === 'keep' && block.params === undefined) {
    return { ...inherited, strip };
  }
  const removed = new Set((block.paramsRemove ?? []).map((pattern) => pattern.folded));
  const base = block.params === undefined ? inherited.patterns : at(block.params);
  const added = [...at(block.presets), ...at(block.paramsAdd)];
  const patterns = [...base, ...added].filter(({ pattern }) => !removed.has(pattern.folded));
  return buildStripPolicy({ strip, mode: 'strip', level, patterns });
}

function buildStripPolicy(list: Omit<StripPolicy, 'matcher' | 'judge'>): StripPolicy {
  const matcher = compilePatternSet(list.patterns, (entry) => entry.pattern);
  const judge = (name: string): StrippedPair | null => {
    const match = matcher.find(name);
    if (list.mode === 'strip') {
      return match === undefined
        ? null
        : { name, pattern: match.pattern.source, level: match.level };
    }
    return match === undefined ? { name, pattern: 'params_keep', level: list.level } : null;
  };
  return { ...list, matcher, judge: remember(judge) };
}
