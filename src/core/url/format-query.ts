// Step 7, writing. In canonical mode every pair is encoded anew, so that all spellings of one value
// agree; in raw mode a kept pair keeps its bytes.
import type { NormalizationPolicy } from '../policy/policy.ts';
import type { QueryPair } from './parse-query.ts';
import { encodeBytes, encodeUnsafe } from './percent-encoding.ts';

/** Joins pairs to a query text without `?`; empty when nothing is left. */
export function formatQuery(pairs: readonly QueryPair[], policy: NormalizationPolicy): string {
  if (policy.encoding === 'preserve') return pairs.map((pair) => encodeUnsafe(pair.raw)).join('&');
  return pairs.map((pair) => formatPair(pair, policy)).join('&');
}

function formatPair(pair: QueryPair, policy: NormalizationPolicy): string {
  const name = encodeBytes(pair.name);
  if (pair.value !== '') return `${name}=${encodeBytes(pair.value)}`;
  const isBare =
    policy.emptyValues === 'bare' || (policy.emptyValues === 'preserve' && !pair.hasEquals);
  return isBare ? name : `${name}=`;
}
