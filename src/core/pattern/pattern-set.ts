// Many patterns as one matcher. Exact patterns are a map look-up; the rest are tried in order. The
// verdict for a text is remembered, because names and User-Agents repeat far more than they differ.
import { foldCase } from './fold-case.ts';
import type { Pattern } from './parse-pattern.ts';

export interface PatternSet<T> {
  /** The first entry, in list order, whose pattern matches the text; undefined when none does. */
  readonly find: (text: string) => T | undefined;
  readonly size: number;
}

const NO_MATCH = Symbol('no match');

/** Remembered verdicts; when full, all are forgotten at once, which keeps the memo bounded. */
const VERDICTS_MAX = 4_096;
/** Longer texts are matched anew each time, so that hostile names cannot fill the memory. */
const VERDICT_TEXT_CHARS_MAX = 256;

/**
 * Compiles entries into one matcher.
 *
 * @param entries in the order of precedence
 * @param patternOf where an entry keeps its pattern
 */
export function compilePatternSet<T>(
  entries: readonly T[],
  patternOf: (entry: T) => Pattern,
): PatternSet<T> {
  const exact = new Map<string, number>();
  const others: { readonly index: number; readonly entry: T; readonly pattern: Pattern }[] = [];
  for (const [index, entry] of entries.entries()) {
    const pattern = patternOf(entry);
    if (pattern.kind !== 'exact') others.push({ index, entry, pattern });
    else if (!exact.has(pattern.folded)) exact.set(pattern.folded, index);
  }

  const search = (text: string): T | undefined => {
    const folded = foldCase(text);
    const exactIndex = exact.get(folded) ?? Number.POSITIVE_INFINITY;
    for (const { index, entry, pattern } of others) {
      if (index > exactIndex) break;
      if (pattern.matches(text, folded)) return entry;
    }
    return exactIndex === Number.POSITIVE_INFINITY ? undefined : entries[exactIndex];
  };

  if (entries.length === 0) return { size: 0, find: () => undefined };
  const verdicts = new Map<string, T | typeof NO_MATCH>();
  return {
    size: entries.length,
    find: (text) => {
      if (text.length > VERDICT_TEXT_CHARS_MAX) return search(text);
      const known = verdicts.get(text);
      if (known !== undefined) return known === NO_MATCH ? undefined : known;
      const found = search(text);
      if (verdicts.size >= VERDICTS_MAX) verdicts.clear();
      verdicts.set(text, found ?? NO_MATCH);
      return found;
    },
  };
}
