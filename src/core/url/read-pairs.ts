// Step 7, reading: pairs are split on `&` only (`;` is data, or a cache and an origin would see
// different parameters), the first `=` splits a pair, and a malformed pair is never lost. What is
// read does not depend on the policy, and stays where it is in the text.
import { addToHash, createByteMemo, HASH_START } from '../byte-memo.ts';
import type { NormalizationPolicy } from '../policy/policy.ts';
import {
  AMPERSAND,
  ENDS_PAIR,
  EQUALS,
  IS_CONTROL,
  IS_RESERVED,
  kindsOf,
  skipTo,
} from './byte-kinds.ts';
import { makeName, type ParamName } from './param-name.ts';
import { byteString, decodeForm, toText } from './percent-encoding.ts';

export interface QueryPair {
  readonly name: ParamName;
  /** Where `+` is no space: the same name, but where there is one in it. */
  readonly literalName: ParamName;
  /** Where the pair is in the bytes: its name up to `equalsAt`, its value behind it up to `end`. */
  readonly start: number;
  /** Of the first `=`; `end` where there is none. */
  readonly equalsAt: number;
  readonly end: number;
  /** Unreserved characters and one `=` at most: nothing to decode, nothing to encode. */
  readonly isPlain: boolean;
}

/** What was read of a query. */
export interface Search {
  /** Empty pieces too. */
  readonly pairs: readonly QueryPair[];
  /** Whether every pair has a name and a value, as in nearly every query. */
  readonly isFull: boolean;
  /** Whether a name can be part of a signature. */
  readonly isTelling: boolean;
  /** Where it ends: at a `#`, or at a character that no URL may have in it. */
  readonly end: number;
}

/** @returns null when there are too many pairs */
export type SearchReader = (bytes: Uint8Array, from: number) => Search | null;

/**
 * @param paramsMax empty pairs are not counted
 * @returns reads bytes that have a `#` behind them
 */
export function createSearchReader(paramsMax: number): SearchReader {
  const names = createByteMemo<ParamName>();

  const readPair = (bytes: Uint8Array, start: number): QueryPair => {
    let hash = HASH_START;
    let nameEnd = start;
    for (; (kindsOf(bytes[nameEnd]) & IS_RESERVED) === 0; nameEnd += 1) {
      hash = addToHash(hash, bytes[nameEnd] ?? 0);
    }
    const hasEquals = bytes[nameEnd] === EQUALS;
    if (!hasEquals && !endsPair(bytes[nameEnd])) return readEncodedName(bytes, start);
    let name = names.find(hash, bytes, start, nameEnd);
    if (name === undefined) {
      const kept = bytes.slice(start, nameEnd);
      name = makeName(byteString(bytes, start, nameEnd));
      names.keep(hash, kept, name);
    }
    if (!hasEquals) {
      return { name, literalName: name, start, equalsAt: nameEnd, end: nameEnd, isPlain: true };
    }
    let end = skipTo(bytes, nameEnd + 1, IS_RESERVED);
    const isPlain = endsPair(bytes[end]);
    if (!isPlain) end = skipTo(bytes, end, ENDS_PAIR | IS_CONTROL);
    return { name, literalName: name, start, equalsAt: nameEnd, end, isPlain };
  };

  return (bytes, from) => {
    const pairs: QueryPair[] = [];
    let count = 0;
    let isFull = true;
    let isTelling = false;
    for (let start = from; ; ) {
      const pair = readPair(bytes, start);
      pairs.push(pair);
      if (pair.end > start) count += 1;
      if (count > paramsMax) return null;
      if (pair.equalsAt === start || !hasValue(pair)) isFull = false;
      if (pair.name.isTelling || pair.literalName.isTelling) isTelling = true;
      if (bytes[pair.end] !== AMPERSAND) return { pairs, isFull, isTelling, end: pair.end };
      start = pair.end + 1;
    }
  };
}

function endsPair(byte: number | undefined): boolean {
  return (kindsOf(byte) & ENDS_PAIR) !== 0;
}

function readEncodedName(bytes: Uint8Array, start: number): QueryPair {
  const end = skipTo(bytes, start, ENDS_PAIR | IS_CONTROL);
  let equalsAt = start;
  while (equalsAt < end && bytes[equalsAt] !== EQUALS) equalsAt += 1;
  const written = byteString(bytes, start, equalsAt);
  const name = makeName(decodeForm(written, true));
  const literalName = written.includes('+') ? makeName(decodeForm(written, false)) : name;
  return { name, literalName, start, equalsAt, end, isPlain: false };
}

/** The pairs as a policy reads them: how `+` is meant, and whether empty pieces are anything. */
export function pairsUnder(
  { pairs, isFull }: Search,
  { encoding, sortQuery, plus }: NormalizationPolicy,
): readonly QueryPair[] {
  const keepsEmptyPieces = encoding === 'preserve' && !sortQuery;
  const present = isFull || keepsEmptyPieces ? pairs : pairs.filter(isPresent);
  if (plus === 'space') return present;
  return present.map((pair) => ({ ...pair, name: pair.literalName }));
}

function isPresent({ start, end }: QueryPair): boolean {
  return end > start;
}

export function hasValue({ equalsAt, end }: QueryPair): boolean {
  return end > equalsAt + 1;
}

/** The decoded value as text. */
export function pairValue(
  bytes: Uint8Array,
  { equalsAt, end }: QueryPair,
  { plus }: NormalizationPolicy,
): string {
  return toText(decodeForm(byteString(bytes, equalsAt + 1, end), plus === 'space'));
}
