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
  /** Name and value are written as they are: nothing was decoded, nothing has to be encoded. */
  readonly isPlain: boolean;
}

/** Unreserved characters, and what separates them. */
const PLAIN_QUERY = /^[A-Za-z0-9\-._~=&]*$/;
const NO_PAIRS: readonly QueryPair[] = [];

/**
 * Splits a query (without `?`) into decoded pairs, in order. Empty pieces vanish but in raw mode.
 */
export function parseQuery(query: string, policy: NormalizationPolicy): readonly QueryPair[] {
  if (query === '') return NO_PAIRS;
  const keepsEmptyPieces = policy.encoding === 'preserve' && !policy.sortQuery;
  const plusIsSpace = policy.plus === 'space';
  const isPlain = PLAIN_QUERY.test(query);
  const bytes = isPlain ? query : toByteString(query);
  const pairs: QueryPair[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const ampersandAt = bytes.indexOf('&', start);
    const end = ampersandAt === -1 ? bytes.length : ampersandAt;
    if (end > start || keepsEmptyPieces) {
      const raw = bytes.slice(start, end);
      const isPlainPair = isPlain || PLAIN_QUERY.test(raw);
      pairs.push(isPlainPair ? splitPlainPair(raw) : decodePair(raw, plusIsSpace));
    }
    start = end + 1;
  }
  return pairs;
}

function splitPlainPair(raw: string): QueryPair {
  const equalsAt = raw.indexOf('=');
  if (equalsAt === -1) return { raw, name: raw, value: '', hasEquals: false, isPlain: true };
  const value = raw.slice(equalsAt + 1);
  const isPlain = !value.includes('=');
  return { raw, name: raw.slice(0, equalsAt), value, hasEquals: true, isPlain };
}

function decodePair(raw: string, plusIsSpace: boolean): QueryPair {
  const equalsAt = raw.indexOf('=');
  const hasEquals = equalsAt !== -1;
  return {
    raw,
    name: decodeForm(hasEquals ? raw.slice(0, equalsAt) : raw, plusIsSpace),
    value: hasEquals ? decodeForm(raw.slice(equalsAt + 1), plusIsSpace) : '',
    hasEquals,
    isPlain: false,
  };
}

/** The decoded name as text, which is what patterns are matched against. */
export function pairName(pair: QueryPair): string {
  return pair.isPlain ? pair.name : toText(pair.name);
}

/** The decoded value as text. */
export function pairValue(pair: QueryPair): string {
  return pair.isPlain ? pair.value : toText(pair.value);
}
