// Refresh: a page is got again while the stored one is served, because it is stale or because
// somebody asked for it. Nobody waits for it; whoever comes meanwhile joins it.
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import { backOff } from '../fetch/failure-memory.ts';
import { flyOut } from '../fetch/fly-out.ts';
import { isWhole } from '../fetch/judge-fill.ts';
import { leadOrFollow } from '../fetch/lead-or-follow.ts';
import type { Entry } from '../ports.ts';
import type { Fill, Keyed, UnstoredReason } from '../state.ts';

/** Words of the page itself, or of the policy, that it is not to be kept. */
const WITHDRAWN: ReadonlySet<UnstoredReason> = new Set([
  'no_store',
  'private',
  'set_cookie',
  'vary',
  'self_redirect',
  'not_html',
  'ttl',
]);

/** How often a refresh waits for another fetch of its page that began before it. */
const TURNS_MAX = 3;

/** Renews a stale page in the background, unless that is being done or has just failed. */
export function refreshPage(keyed: Keyed, deps: PipelineDeps): void {
  const identity = pageIdentity(keyed);
  if (deps.flights.isRunning(identity) || deps.failures.get(identity) !== null) return;
  const place = deps.flights.join(identity, 0, () => renew(keyed, 0, deps));
  // renew answers for every failure; anything it throws is a defect.
  if (place.role !== 'refused') place.result.catch(deps.onDefect);
}

/**
 * Renews a page for somebody who asked for it, and tells what came of it.
 *
 * @param newerThan a fresh and whole page that was stored at this time or later will do
 */
export async function renewPage(
  keyed: Keyed,
  newerThan: number,
  deps: PipelineDeps,
): Promise<Fill> {
  const start = (): Promise<Fill> => renew(keyed, newerThan, deps);
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    const place = deps.flights.join(pageIdentity(keyed), keyed.site.waitersPerKeyMax, start);
    if (place.role === 'leader') return await place.result;
    if (place.role === 'refused') break;
    // It may have begun before the page was asked for; what it stored is found by the next turn.
    await place.result;
  }
  return { outcome: 'failed', reason: 'wait_timeout', detail: 'others fetched it all the time' };
}

/**
 * One refresh. A page that may no longer be stored takes its old copy along; one that could not be
 * had now, or is refused now, leaves it.
 */
async function renew(keyed: Keyed, newerThan: number, deps: PipelineDeps): Promise<Fill> {
  const fetch = (): Promise<Fill> => flyOut(keyed, { mayStore: true, headers: [] }, deps);
  // A failure that is kept for a moment is what the refresh is to end.
  const isEnough = (entry: Entry): boolean => entry.cachedAt >= newerThan && isWhole(entry);
  const fill = await leadOrFollow(keyed, { fetch, isEnough }, deps);
  const isAnswer = fill.outcome === 'page' && fill.page.status < 500 && fill.entry === null;
  if (!isAnswer || fill.unstored === null || fill.unstored === 'purged') return fill;
  if (WITHDRAWN.has(fill.unstored)) {
    const { key, ref, decision } = keyed;
    await deps.pages.withdraw(key, ref, decision.normalized);
  } else {
    backOff(keyed, fill, deps);
  }
  return fill;
}
