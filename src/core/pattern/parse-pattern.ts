// One pattern engine for parameter names, paths, query values and User-Agents.
// spec: url-and-key, "Patterns". Everything matches in time linear in the text: regexps are RE2,
// and wildcards have their own matcher, because a glob compiled to a V8 regexp backtracks.
import { RE2JS } from 're2js';
import { err, ok, type Result } from '../result.ts';
import { foldCase } from './fold-case.ts';
import { compileWildcard } from './match-wildcard.ts';

export type PatternKind = 'exact' | 'wildcard' | 'regexp';

export interface Pattern {
  readonly kind: PatternKind;
  /** As the user wrote it. */
  readonly source: string;
  /**
   * `source` without case (see foldCase): what exact and wildcard patterns compare, and what a
   * removal names.
   */
  readonly folded: string;
  /** What every text that matches begins with, without its case; often nothing. */
  readonly prefix: string;
  /** Whether the text matches; `foldedText` is `foldCase(text)`, passed in to make it once. */
  readonly matches: (text: string, foldedText: string) => boolean;
}

/** Why a pattern was refused; the caller knows the file and line. */
export interface PatternError {
  readonly message: string;
  readonly hint: string;
}

/** Longest pattern accepted, in characters: a cap on what load time may compile. */
const PATTERN_CHARS_MAX = 1_000;

/**
 * Parses one pattern of the configuration.
 *
 * @param source the text as written: `name`, `na*me`, `~regexp` or `~*regexp`
 * @returns the compiled pattern, or what is wrong with it and what to do
 */
export function parsePattern(source: string): Result<Pattern, PatternError> {
  if (source === '') {
    return err({ message: 'empty pattern', hint: 'remove it, or write "*" to match everything' });
  }
  if (source.length > PATTERN_CHARS_MAX) {
    return err({
      message: `a pattern of ${source.length} characters`,
      hint: `a pattern has at most ${PATTERN_CHARS_MAX}; split it into several`,
    });
  }
  if (source.startsWith('~*')) return parseRegexp(source, source.slice(2), RE2JS.CASE_INSENSITIVE);
  if (source.startsWith('~')) return parseRegexp(source, source.slice(1), 0);
  return ok(source.includes('*') ? wildcardPattern(source) : exactPattern(source));
}

function exactPattern(source: string): Pattern {
  const folded = foldCase(source);
  return {
    kind: 'exact',
    source,
    folded,
    prefix: folded,
    matches: (_text, foldedText) => foldedText === folded,
  };
}

function wildcardPattern(source: string): Pattern {
  const folded = foldCase(source);
  const matchesFolded = compileWildcard(folded);
  return {
    kind: 'wildcard',
    source,
    folded,
    prefix: folded.slice(0, folded.indexOf('*')),
    matches: (_text, foldedText) => matchesFolded(foldedText),
  };
}

function parseRegexp(
  source: string,
  expression: string,
  flags: number,
): Result<Pattern, PatternError> {
  if (expression === '') {
    return err({
      message: `"${source}" has no expression`,
      hint: 'write the expression after it, or "*" to match everything',
    });
  }
  try {
    const compiled = RE2JS.compile(expression, flags);
    return ok({
      kind: 'regexp',
      source,
      folded: foldCase(source),
      prefix: flags === 0 ? foldCase(literalPrefix(expression)) : '',
      matches: (text) => compiled.test(text),
    });
  } catch (cause) {
    return err({
      message: `bad regular expression "${expression}": ${describe(cause)}`,
      hint: 'expressions are RE2: no look-around and no back-references',
    });
  }
}

/**
 * Only what is certain: after `^`, ASCII that means itself, up to the first sign of anything else.
 * Without case nothing is, since a `k` matches a Kelvin sign, which is folded to something else.
 */
function literalPrefix(expression: string): string {
  if (expression.includes('|')) return '';
  const [, literal = '', repeat = ''] =
    /^\^((?:[\w/%~-]|\\[./-])*)([?*+{]?)/.exec(expression) ?? [];
  const text = literal.replaceAll('\\', '');
  return repeat === '' ? text : text.slice(0, -1);
}

function describe(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
