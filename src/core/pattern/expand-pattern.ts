// What every text that matches a pattern looks like, as far as that can be said in plain text: the
// names in a pattern, for lists that others can use. Case is left out of account. What is not
// understood is answered with null, never with a guess.
import type { Pattern } from './parse-pattern.ts';

/** Stands for any run of characters, also none. */
export const GAP = '\u0000';
/** Stands for the begin of the text. */
export const START = '\u0001';

/** A pattern with more spellings is one that can't be written out. */
const SPELLINGS_MAX = 2_000;

/** Spellings, one of which every text that matches has in it; null: they can't be said. */
export function expandPattern({ kind, source }: Pattern): readonly string[] | null {
  if (kind !== 'regexp') return [(START + source).replaceAll('*', GAP)];
  return expandRegexp(source.replace(/^~\*?/, ''));
}

type Spellings = readonly string[];

const CLASS = /\[(\^?)(\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]/y;
const QUANTIFIER = /(?:([?*+])|\{\d+(?:,\d*)?\})\??/y;

function expandRegexp(expression: string): Spellings | null {
  let at = 0;

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(expression);
    if (found !== null) at += found[0].length;
    return found;
  }

  function readAlternatives(): Spellings | null {
    const all: string[] = [];
    do {
      const sequence = readSequence();
      if (sequence === null) return null;
      all.push(...sequence);
    } while (take(/\|/y) !== null);
    return [...new Set(all)];
  }

  function readSequence(): Spellings | null {
    let sequence: Spellings = [''];
    while (at < expression.length && !/[|)]/.test(expression.charAt(at))) {
      const atom = readAtom();
      if (atom === null) return null;
      const repeated = repeat(atom, take(QUANTIFIER));
      if (sequence.length * repeated.length > SPELLINGS_MAX) return null;
      sequence = sequence.flatMap((before) => repeated.map((after) => before + after));
    }
    return sequence;
  }

  function readAtom(): Spellings | null {
    if (take(/\((?:\?:)?(?!\?)/y) !== null) {
      const inner = readAlternatives();
      return inner !== null && take(/\)/y) !== null ? inner : null;
    }
    const one = take(CLASS);
    if (one !== null) return [readClass(one)];
    if (take(/\./y) !== null) return [GAP];
    if (take(/\^|\\A/y) !== null) return [START];
    if (take(/\$|\\[bBz]/y) !== null) return [''];
    if (take(/\\[dDsSwW]/y) !== null) return [GAP];
    const literal = take(/\\([^a-z\d])|([^\\([?*+{])/iy);
    return literal === null ? null : [literal[1] ?? literal[2] ?? ''];
  }

  const spellings = readAlternatives();
  return at === expression.length ? spellings : null;
}

/** A class of one character is that character. */
function readClass([, negation, members = '']: RegExpExecArray): string {
  return negation === '' && members.length === 1 ? members : GAP;
}

function repeat(atom: Spellings, quantifier: RegExpExecArray | null): Spellings {
  if (quantifier === null) return atom;
  if (quantifier[1] === '?') return ['', ...atom];
  return quantifier[1] === '+' ? atom.map((spelling) => spelling + GAP) : [GAP];
}
