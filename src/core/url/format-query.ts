// Step 7, writing. In canonical mode every pair is encoded anew, so that all spellings of one value
// agree; in raw mode a kept pair keeps its bytes. What is written that way already is copied.
import type { NormalizationPolicy } from '../policy/policy.ts';
import { AMPERSAND, EQUALS } from './byte-kinds.ts';
import { hasValue, type QueryPair } from './read-pairs.ts';
import type { ParsedUrl } from './read-url.ts';
import { createSheet, FORM, FORM_LITERAL_PLUS } from './sheet.ts';

/** Nothing stays on it from one call to the next. */
const SHEET = createSheet();

/** Up to here, joining pieces of a text costs less than writing on a sheet. */
const FEW_PIECES = 4;

/** What the places of pairs are in. */
export type QuerySource = Pick<ParsedUrl, 'text' | 'bytes' | 'isAscii'>;

/** Joins pairs to a query text without `?`; empty when nothing is left. */
export function formatQuery(
  source: QuerySource,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): string {
  const [first] = pairs;
  if (first === undefined) return '';
  if (source.isAscii) {
    const runEnd = findRunEnd(pairs, first.start, policy);
    if (runEnd !== -1) return source.text.slice(first.start, runEnd);
    const joined = pairs.length > FEW_PIECES ? null : joinPieces(source.text, pairs, policy);
    if (joined !== null) return joined;
  }
  return writePairs(source.bytes, pairs, policy);
}

/**
 * Where pairs end that can be taken as one piece.
 *
 * @param from where that piece begins
 * @returns -1 when they can't
 */
export function findRunEnd(
  pairs: readonly QueryPair[],
  from: number,
  policy: NormalizationPolicy,
): number {
  let end = from - 1;
  for (const pair of pairs) {
    if (pair.start !== end + 1) return -1;
    end = writtenEnd(pair, policy);
    if (end === -1) return -1;
  }
  return Math.max(end, from);
}

/** null where a pair is not written as it has to be. */
function joinPieces(
  text: string,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): string | null {
  let query = '';
  let separator = '';
  for (const pair of pairs) {
    const end = writtenEnd(pair, policy);
    if (end === -1) return null;
    query += separator + text.slice(pair.start, end);
    separator = '&';
  }
  return query;
}

function writePairs(
  bytes: Uint8Array,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): string {
  SHEET.start(bytes);
  let isFirst = true;
  for (const pair of pairs) {
    if (!isFirst) SHEET.put(AMPERSAND);
    isFirst = false;
    const end = writtenEnd(pair, policy);
    if (end === -1) writePair(pair, policy);
    else SHEET.copy(pair.start, end);
  }
  return SHEET.read();
}

/** Up to where the pair is as it has to be; -1 when it has to be written anew. */
function writtenEnd(pair: QueryPair, { encoding, emptyValues }: NormalizationPolicy): number {
  const { equalsAt, end, isPlain } = pair;
  if (!isPlain) return -1;
  if (encoding === 'preserve' || hasValue(pair) || emptyValues === 'preserve') return end;
  if (emptyValues === 'bare') return equalsAt;
  return equalsAt === end ? -1 : end;
}

function writePair(pair: QueryPair, policy: NormalizationPolicy): void {
  const { start, equalsAt, end } = pair;
  const { encoding, emptyValues, plus } = policy;
  if (encoding === 'preserve') {
    SHEET.encodeUnsafe(start, end);
    return;
  }
  const rules = plus === 'space' ? FORM : FORM_LITERAL_PLUS;
  SHEET.encode(start, equalsAt, rules);
  const isBare = emptyValues === 'bare' || (emptyValues === 'preserve' && equalsAt === end);
  if (!hasValue(pair) && isBare) return;
  SHEET.put(EQUALS);
  SHEET.encode(equalsAt + 1, end, rules);
}
