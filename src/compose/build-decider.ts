// The decision function with the real hash: what serving, commands and the admin API share.
import { createHasher } from '../adapters/xxhash/create-hasher.ts';
import { createDecider, type Decider } from '../core/decision/create-decider.ts';
import type { PolicySet } from '../core/policy/policy.ts';

export async function buildDecider(policies: PolicySet): Promise<Decider> {
  const hasher = await createHasher();
  return createDecider(policies, hasher.text);
}
