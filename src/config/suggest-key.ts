// "Did you mean": the nearest key by edit distance, or the place where a key of that name belongs.
import type { TSchema } from 'typebox';
import { isRecord } from '../core/records.ts';

/** Longer words are not compared: nobody mistypes them, and the distance is quadratic. */
const WORD_CHARS_MAX = 60;

/** The candidate a mistyped word was probably meant to be; null when none is near. */
export function suggestWord(word: string, candidates: readonly string[]): string | null {
  if (word.length > WORD_CHARS_MAX) return null;
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance with swaps of neighbours counted once. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_unused, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + cost,
      );
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && isSwap) {
        distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** Every key a file may have → the dotted paths where it may stand. */
export type KeyIndex = ReadonlyMap<string, readonly string[]>;

export function indexKeys(schema: TSchema): KeyIndex {
  const index = new Map<string, string[]>();
  collectKeys(schema, '', index);
  return index;
}

function collectKeys(schema: unknown, path: string, index: Map<string, string[]>): void {
  if (!isRecord(schema)) return;
  if (isRecord(schema['properties'])) {
    for (const [key, child] of Object.entries(schema['properties'])) {
      const at = path === '' ? key : `${path}.${key}`;
      index.set(key, [...(index.get(key) ?? []), at]);
      collectKeys(child, at, index);
    }
  }
  if (isRecord(schema['patternProperties'])) {
    for (const child of Object.values(schema['patternProperties'])) {
      collectKeys(child, `${path}.<name>`, index);
    }
  }
  collectKeys(schema['items'], `${path}[]`, index);
  const branches = schema['anyOf'];
  if (Array.isArray(branches)) for (const branch of branches) collectKeys(branch, path, index);
}
