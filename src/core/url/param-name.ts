// The name of a query parameter, with what is asked of it again and again: names repeat, so all of
// it is made once for each.
import { foldCase } from '../pattern/fold-case.ts';
import type { StripPolicy, StrippedPair } from '../policy/policy.ts';
import { toText } from './percent-encoding.ts';
import { TELLING } from './signed-url.ts';

export interface ParamName {
  /** Decoded byte string (see percent-encoding). */
  readonly bytes: string;
  /** As text, which is what patterns are matched against. */
  readonly text: string;
  /** The first bytes as one number: in the order of the names, and equal where it can't tell. */
  readonly order: number;
  /** Whether it can be part of a signature. */
  readonly isTelling: boolean;
  /** The last who judged it, and what was said: one policy is asked again and again. */
  judgedBy: StripPolicy | null;
  verdict: StrippedPair | null;
}

/** What a policy says of pairs of this name. */
export function judgeName(name: ParamName, policy: StripPolicy): StrippedPair | null {
  if (name.judgedBy !== policy) {
    name.verdict = policy.judge(name.text);
    name.judgedBy = policy;
  }
  return name.verdict;
}

/** As many as the engine keeps in a number without a box. */
const ORDER_BYTES = 4;
const LEAST_ORDER = 0x80000000;

/** @param bytes decoded byte string */
export function makeName(bytes: string): ParamName {
  const text = toText(bytes);
  let order = 0;
  for (let at = 0; at < ORDER_BYTES; at += 1) {
    order = (order << 8) | (at < bytes.length ? bytes.charCodeAt(at) : 0);
  }
  // Of bytes above ASCII the highest bit would be a sign.
  order = (order ^ LEAST_ORDER) | 0;
  const isTelling = TELLING.has(foldCase(text));
  return { bytes, text, order, isTelling, judgedBy: null, verdict: null };
}

/** Less than, equal to or greater than 0, as byte strings compare. */
export function compareNames(a: ParamName, b: ParamName): number {
  if (a === b) return 0;
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  if (a.bytes === b.bytes) return 0;
  return a.bytes < b.bytes ? -1 : 1;
}
