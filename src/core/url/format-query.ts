// Step 7, writing. In canonical mode every pair is encoded anew, so that all spellings of one value
// agree; in raw mode a kept pair keeps its bytes. What is written that way already is copied.
import type { NormalizationPolicy } from '../policy/policy.ts';
import { encodePart, FORM, FORM_LITERAL_PLUS } from './encode-part.ts';
import { encodeUnsafe } from './percent-encoding.ts';
import { hasValue, type QueryPair } from './read-pairs.ts';

/** Joins pairs to a query text without `?`; empty when nothing is left. */
export function formatQuery(
  text: string,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): string {
  let query = '';
  let isFirst = true;
  for (const pair of pairs) {
    const end = writtenEnd(pair, policy);
    const written = end === -1 ? formatPair(text, pair, policy) : text.slice(pair.start, end);
    query = isFirst ? written : `${query}&${written}`;
    isFirst = false;
  }
  return query;
}

/**
 * Where the text of the pairs ends, when it can be taken from the text as one piece.
 *
 * @param queryAt where that piece would begin
 * @returns -1 when it can't
 */
export function findRunEnd(
  pairs: readonly QueryPair[],
  queryAt: number,
  policy: NormalizationPolicy,
): number {
  let end = queryAt - 1;
  for (const pair of pairs) {
    if (pair.start !== end + 1) return -1;
    end = writtenEnd(pair, policy);
    if (end === -1) return -1;
  }
  return end;
}

/** Up to where the pair is as it has to be; -1 when it has to be written anew. */
function writtenEnd(pair: QueryPair, { encoding, emptyValues }: NormalizationPolicy): number {
  const { equalsAt, end, isPlain } = pair;
  if (!isPlain) return -1;
  if (encoding === 'preserve' || hasValue(pair) || emptyValues === 'preserve') return end;
  if (emptyValues === 'bare') return equalsAt;
  return equalsAt === end ? -1 : end;
}

function formatPair(text: string, pair: QueryPair, policy: NormalizationPolicy): string {
  const { start, equalsAt, end } = pair;
  if (policy.encoding === 'preserve') return encodeUnsafe(text.slice(start, end));
  const name = pair.name.encoded;
  if (hasValue(pair)) {
    const rules = policy.plus === 'space' ? FORM : FORM_LITERAL_PLUS;
    return `${name}=${encodePart(text, equalsAt + 1, end, rules)}`;
  }
  const { emptyValues } = policy;
  const isBare = emptyValues === 'bare' || (emptyValues === 'preserve' && equalsAt === end);
  return isBare ? name : `${name}=`;
}
