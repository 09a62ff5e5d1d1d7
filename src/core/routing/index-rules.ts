// The rules of a host by the text that every path they match begins with, so that a request is
// compared with the few that can match it at all, and a thousand rules cost about what one does.
// Rules without such a text, as `*.pdf`, are compared with every request.
import type { Rule } from '../policy/policy.ts';

export interface RuleIndex {
  /** Every rule that could match, in their order; some of them may not. */
  readonly candidates: (foldedPath: string) => readonly Rule[];
}

interface Prefix {
  readonly text: string;
  /** The longest other one that this begins with. */
  readonly parent: Prefix | null;
  /** Places of its own rules and of those of its parents, ascending. */
  readonly places: readonly number[];
  readonly rules: readonly Rule[];
}

/** @param rules sorted: the first that matches is the one that applies */
export function indexRules(rules: readonly Rule[]): RuleIndex {
  const prefixes = linkPrefixes(rules);
  return {
    candidates: (foldedPath) => {
      let prefix = findLast(prefixes, foldedPath);
      // What lies between a prefix of the path and the path begins with that prefix too: all
      // prefixes of the path are this one or its parents.
      while (prefix !== null && !foldedPath.startsWith(prefix.text)) prefix = prefix.parent;
      return prefix?.rules ?? [];
    },
  };
}

/** In the order of their texts, which places each behind its parents. */
function linkPrefixes(rules: readonly Rule[]): readonly Prefix[] {
  const placesOf = new Map<string, number[]>();
  for (const [place, { pattern }] of rules.entries()) {
    const places = placesOf.get(pattern.prefix);
    if (places === undefined) placesOf.set(pattern.prefix, [place]);
    else places.push(place);
  }
  const prefixes: Prefix[] = [];
  const open: Prefix[] = [];
  for (const text of [...placesOf.keys()].sort()) {
    while (!text.startsWith(open.at(-1)?.text ?? '')) open.pop();
    const parent = open.at(-1) ?? null;
    const own = placesOf.get(text) ?? [];
    const places = [...(parent?.places ?? []), ...own].sort((a, b) => a - b);
    const prefix = { text, parent, places, rules: places.flatMap((place) => rules[place] ?? []) };
    prefixes.push(prefix);
    open.push(prefix);
  }
  return prefixes;
}

/** The last one that does not come behind the path. */
function findLast(prefixes: readonly Prefix[], path: string): Prefix | null {
  let from = 0;
  let to = prefixes.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const isBehind = (prefixes[middle]?.text ?? '') > path;
    if (isBehind) to = middle;
    else from = middle + 1;
  }
  return prefixes[from - 1] ?? null;
}
