// The decision function with the real hash: what serving, commands and the admin API share.
import { createHasher } from '../adapters/xxhash/create-hasher.ts';
import { createDecider, type Decider } from '../core/decision/create-decider.ts';
import type { PolicySet } from '../core/policy/policy.ts';
import type { LearnedRules } from '../pipeline/ports.ts';

/** @param learned null: nothing was ever stored, so nothing is learned */
export async function buildDecider(
  policies: PolicySet,
  learned: Pick<LearnedRules, 'current'> | null,
): Promise<Decider> {
  const hasher = await createHasher();
  return createDecider(policies, hasher.text, learned?.current);
}
