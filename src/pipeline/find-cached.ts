// What the store has for a decision: the last line of every explanation.
import type { Decision } from '../core/decision/decision.ts';
import { type CachedState, keyOf } from '../core/decision/explain-decision.ts';
import type { PageStore } from './page-store.ts';

/** `unknown` for a decision that looks nothing up, and for a store that can't be asked. */
export async function findCached(decision: Decision, pages: PageStore): Promise<CachedState> {
  const key = keyOf(decision);
  const { host, dimension } = decision;
  if (decision.error !== null || decision.action !== 'render') return 'unknown';
  if (key === null || host === null || dimension === null) return 'unknown';
  const ref = { hostId: host.id, dimensionId: dimension.id, hash: decision.hash };
  const found = await pages.lookUp(key, ref, decision.normalized);
  if (found.state === 'hit') return found.freshness;
  return found.state === 'absent' ? 'absent' : 'unknown';
}
