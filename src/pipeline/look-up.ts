// Look-up: a fresh page answers at once; a stale one answers at once and is refreshed behind the
// client's back. What the store could not say is never taken for a miss.
import { answerEntry, wantedCodings } from './deliver-page.ts';
import type { PipelineDeps } from './deps.ts';
import { recacheOnHit } from './refresh/recache-on-hit.ts';
import { refreshPage } from './refresh/refresh-page.ts';
import { type Keyed, type Looked, servesStale } from './state.ts';

/** An entry whose body was replaced under our eyes is looked up once more. */
const ATTEMPTS_MAX = 2;
const REPLACED = 'replaced';

/** Answers from the store, or says why it can't. */
export async function lookUp(keyed: Keyed, deps: PipelineDeps): Promise<Looked> {
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) {
    const looked = await lookUpOnce(keyed, deps);
    if (looked.state === 'answered' || looked.detail !== REPLACED) return looked;
  }
  return await lookUpOnce(keyed, deps);
}

async function lookUpOnce(keyed: Keyed, deps: PipelineDeps): Promise<Looked> {
  const { key, ref, decision } = keyed;
  const found = await deps.pages.lookUp(key, ref, decision.normalized, () => wantedCodings(keyed));
  if (found.state === 'unavailable') return { state: 'unavailable', detail: found.reason };
  if (found.state === 'absent') {
    return { state: 'absent', detail: found.reason === 'absent' ? null : found.reason };
  }
  const isStale = found.freshness === 'stale';
  if (isStale && !servesStale(keyed)) return { state: 'absent', detail: 'expired' };
  const how = isStale ? 'stale' : 'hit';
  const { entry, ahead } = found;
  const answer = await answerEntry(keyed, { how, entry, detail: null, ahead }, deps);
  if (answer.state === 'unavailable') return { state: 'unavailable', detail: answer.reason };
  if (answer.state === 'absent') return { state: 'absent', detail: null };
  if (answer.state === 'damaged') {
    const detail = answer.reason === REPLACED ? REPLACED : 'damaged';
    return { state: 'absent', detail };
  }
  // HEAD never fetches and never writes.
  if (keyed.request.method !== 'HEAD') {
    if (isStale) refreshPage(keyed, deps);
    else recacheOnHit(keyed, entry, deps);
  }
  return { state: 'answered', delivery: answer.value };
}
