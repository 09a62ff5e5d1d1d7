// Look-up: a fresh page answers at once; a stale one answers at once and is refreshed behind the
// client's back. What the store could not say is never taken for a miss.
import { answerEntry } from './deliver-page.ts';
import type { PipelineDeps } from './deps.ts';
import { refreshPage } from './fetch-page.ts';
import { type Keyed, type Looked, servesStale } from './state.ts';

/** Answers from the store, or says why it can't. */
export async function lookUp(keyed: Keyed, deps: PipelineDeps): Promise<Looked> {
  const found = await deps.pages.lookUp(keyed.key, keyed.ref, keyed.decision.normalized);
  if (found.state === 'unavailable') return { state: 'unavailable', detail: found.reason };
  if (found.state === 'absent') {
    return { state: 'absent', detail: found.reason === 'absent' ? null : found.reason };
  }
  const isStale = found.freshness === 'stale';
  if (isStale && !servesStale(keyed)) return { state: 'absent', detail: 'expired' };
  const how = isStale ? 'stale' : 'hit';
  const answer = await answerEntry(keyed, { how, entry: found.entry, detail: null }, deps);
  if (answer.state === 'unavailable') return { state: 'unavailable', detail: answer.reason };
  if (answer.state !== 'found') return { state: 'absent', detail: 'damaged' };
  if (isStale) refreshPage(keyed, deps);
  return { state: 'answered', delivery: answer.value };
}
