// All dimensions in which a host may have pages.
import type { Dimension, HostPolicy } from '../policy/policy.ts';

/** The host's own, what clients that match none of them get, and those that only a rule names. */
export function dimensionsOf({ dimensions, unmatched, rules }: HostPolicy): readonly Dimension[] {
  const named = rules.flatMap(({ dimension }) => (dimension === null ? [] : [dimension]));
  const others = unmatched === 'block' ? named : [unmatched, ...named];
  return [...new Map([...dimensions, ...others].map((one) => [one.id, one])).values()];
}
