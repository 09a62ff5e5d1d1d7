// Step 7, writing. In canonical mode every pair is encoded anew, so that all spellings of one value
// agree; in raw mode a kept pair keeps its bytes.
import type { NormalizationPolicy } from '../policy/policy.ts';
import type { QueryPair } from './parse-query.ts';
import { encodeBytes, encodeUnsafe } from './percent-encoding.ts';

/** Joins pairs to a query text without `?`; empty when nothing is left. */
export function formatQuery(pairs: readonly QueryPair[], policy: NormalizationPolicy): string {
  let query = '';
  let separator = '';
  for (const pair of pairs) {
    query += separator + formatPair(pair, policy);
    separator = '&';
  }
  return query;
}

function formatPair(pair: QueryPair, policy: NormalizationPolicy): string {
  const { raw, name, value, hasEquals, isPlain } = pair;
  if (policy.encoding === 'preserve') return isPlain ? raw : encodeUnsafe(raw);
  if (value !== '') return isPlain ? raw : `${encodeBytes(name)}=${encodeBytes(value)}`;
  const isBare = policy.emptyValues === 'bare' || (policy.emptyValues === 'preserve' && !hasEquals);
  return isBare ? encodeBytes(name) : `${encodeBytes(name)}=`;
}
