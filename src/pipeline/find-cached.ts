// What the store has for a decision: the last line of every explanation.
import type { Decision } from '../core/decision/decision.ts';
import {
  type Cached,
  refOf,
  UNKNOWN_CACHED,
  type UnsharedCause,
} from '../core/decision/explain-decision.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import { formatIdentity, type PipelineDeps } from './deps.ts';
import type { PageStore } from './store/page-store.ts';

const ABSENT: Cached = { state: 'absent', isPartial: false };

/** `unknown` for a decision that looks nothing up, and for a store that can't be asked. */
export async function findCached(decision: Decision, pages: PageStore): Promise<Cached> {
  const ref = refOf(decision);
  if (decision.error !== null || ref === null) return UNKNOWN_CACHED;
  const key = formatCacheKey(ref);
  const found = await pages.lookUp(key, ref, decision.normalized);
  if (found.state === 'hit') {
    return { state: found.freshness, isPartial: found.entry.partial === true };
  }
  return found.state === 'absent' ? ABSENT : UNKNOWN_CACHED;
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
export function cachedInNone(decision: Decision): Cached {
  return refOf(decision) === null ? UNKNOWN_CACHED : ABSENT;
}
