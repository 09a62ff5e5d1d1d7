// Step 7, reading: pairs are split on `&` only (`;` is data, or a cache and an origin would see
// different parameters), the first `=` splits a pair, and a malformed pair is never lost.
import type { NormalizationPolicy } from '../policy/policy.ts';
import { decodeForm, toByteString, toText } from './percent-encoding.ts';

export interface QueryPair {
  /** As written, for raw mode. */
  readonly raw: string;
  /** Decoded byte strings (see percent-encoding). */
  readonly name: string;
  readonly value: string;
  readonly hasEquals: boolean;
}

/**
 * Splits a query (without `?`) into decoded pairs, in order. Empty pieces vanish but in raw mode.
 */
export function parseQuery(query: string, policy: NormalizationPolicy): readonly QueryPair[] {
  if (query === '') return [];
  const keepsEmptyPieces = policy.encoding === 'preserve' && !policy.sortQuery;
  const plusIsSpace = policy.plus === 'space';
  const pairs: QueryPair[] = [];
  for (const raw of toByteString(query).split('&')) {
    if (raw !== '' || keepsEmptyPieces) pairs.push(parsePair(raw, plusIsSpace));
  }
  return pairs;
}

function parsePair(raw: string, plusIsSpace: boolean): QueryPair {
  const equalsAt = raw.indexOf('=');
  const hasEquals = equalsAt !== -1;
  return {
    raw,
    name: decodeForm(hasEquals ? raw.slice(0, equalsAt) : raw, plusIsSpace),
    value: hasEquals ? decodeForm(raw.slice(equalsAt + 1), plusIsSpace) : '',
    hasEquals,
  };
}

/** The decoded name as text, which is what patterns are matched against. */
export function pairName(pair: QueryPair): string {
  return toText(pair.name);
}

/** The decoded value as text. */
export function pairValue(pair: QueryPair): string {
  return toText(pair.value);
}
