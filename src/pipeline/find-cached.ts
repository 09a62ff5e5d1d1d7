// What the store has for a decision: the last line of every explanation.
import type { Decision } from '../core/decision/decision.ts';
import { type CachedState, refOf, type UnsharedCause } from '../core/decision/explain-decision.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import { formatIdentity, type PipelineDeps } from './deps.ts';
import type { PageStore } from './store/page-store.ts';

/** `unknown` for a decision that looks nothing up, and for a store that can't be asked. */
export async function findCached(decision: Decision, pages: PageStore): Promise<CachedState> {
  const ref = refOf(decision);
  if (decision.error !== null || ref === null) return 'unknown';
  const key = formatCacheKey(ref);
  const found = await pages.lookUp(key, ref, decision.normalized);
  if (found.state === 'hit') return found.freshness;
  return found.state === 'absent' ? 'absent' : 'unknown';
}

/** What this process has learned of it from its last answer. */
export function findUnshared(
  decision: Decision,
  { knownUnshared }: Pick<PipelineDeps, 'knownUnshared'>,
): UnsharedCause | null {
  const ref = refOf(decision);
  if (decision.error !== null || ref === null) return null;
  return knownUnshared.get(formatIdentity(formatCacheKey(ref), decision.normalized));
}

/** Where nothing was ever stored. */
export function cachedInNone(decision: Decision): CachedState {
  return refOf(decision) === null ? 'unknown' : 'absent';
}
