// Many patterns as one matcher. Exact patterns are a map look-up; the rest are tried in order.
// Whoever asks for the same texts again and again remembers what was found (see remember).
import { foldCase } from './fold-case.ts';
import type { Pattern } from './parse-pattern.ts';

export interface PatternSet<T> {
  /** The first entry, in list order, whose pattern matches the text; undefined when none does. */
  readonly find: (text: string) => T | undefined;
  readonly size: number;
}

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

  if (entries.length === 0) return { size: 0, find: () => undefined };
  return {
    size: entries.length,
    find: (text) => {
      const folded = foldCase(text);
      const exactIndex = exact.get(folded) ?? Number.POSITIVE_INFINITY;
      for (const { index, entry, pattern } of others) {
        if (index > exactIndex) break;
        if (pattern.matches(text, folded)) return entry;
      }
      return exactIndex === Number.POSITIVE_INFINITY ? undefined : entries[exactIndex];
    },
  };
}
