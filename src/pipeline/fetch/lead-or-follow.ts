// Collapse over processes and machines. The leader of this process enters the page's lease: it
// fetches, or it waits for the one who does and takes the page from the store. When that one dies,
// the next to enter leads: one for all, because the others follow again.
import { isFetchFailure } from '../../core/http/proxy-status.ts';
import type { PipelineDeps } from '../deps.ts';
import type { Entry, Lease, LeaseResult } from '../ports.ts';
import type { FailedFill, Fill, FilledPage, Keyed } from '../state.ts';
import { within } from '../within.ts';
import { isNonPageReason, isShareable, nonPageReason } from './judge-fill.ts';
import { fetchBoundMs } from './wait-for-page.ts';

/** How often a follower takes part again after the leader was lost or its page purged at once. */
const TURNS_MAX = 4;

export interface Fetching {
  readonly fetch: () => Promise<Fill>;
  /**
   * Whether a fresh page in the store makes the fetch needless: somebody was faster. null: nothing
   * stored will do.
   */
  readonly isEnough: ((entry: Entry) => boolean) | null;
}

/** One fetch for everybody who shares the store. */
export async function leadOrFollow(
  keyed: Keyed,
  fetching: Fetching,
  deps: PipelineDeps,
): Promise<Fill> {
  const giveUpAt = deps.clock.now() + fetchBoundMs(keyed);
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    const turn = await deps.leases.enter(keyed.key);
    if (turn.role === 'unavailable') break;
    if (turn.role === 'leader') return await lead(keyed, turn.lease, fetching, deps);
    const result = await within(giveUpAt - deps.clock.now(), turn.result);
    if (result === null) return failed('wait_timeout', 'the leader took too long');
    const fill = await takeResult(keyed, result, fetching, deps);
    if (fill !== null) return fill;
  }
  return await fetching.fetch();
}

async function lead(
  keyed: Keyed,
  lease: Lease,
  { fetch, isEnough }: Fetching,
  deps: PipelineDeps,
): Promise<Fill> {
  let result: LeaseResult = { outcome: 'lost', reason: null };
  try {
    const stored = isEnough === null ? null : await readStored(keyed, isEnough, deps);
    const fill = stored ?? (await fetch());
    result = toLeaseResult(fill);
    return fill;
  } finally {
    await lease.release(result);
  }
}

function toLeaseResult(fill: Fill): LeaseResult {
  if (fill.outcome === 'failed') return { outcome: 'failed', reason: fill.reason };
  if (fill.outcome === 'unshared') return { outcome: 'unshared', reason: fill.nonPage };
  if (fill.entry !== null) return { outcome: 'stored', reason: null };
  // Good for those who wait in this process, but the others can't get at it.
  if (isShareable(fill)) return { outcome: 'lost', reason: null };
  return { outcome: 'unshared', reason: nonPageReason(fill) };
}

/** What the leader's word means here; null: take part again. */
async function takeResult(
  keyed: Keyed,
  { outcome, reason }: LeaseResult,
  { isEnough }: Fetching,
  deps: PipelineDeps,
): Promise<Fill | null> {
  switch (outcome) {
    case 'stored':
      return await readStored(keyed, isEnough ?? (() => true), deps);
    case 'failed':
      return failed(isFetchFailure(reason) ? reason : 'render_failed', 'in another process');
    case 'unshared':
      return { outcome: 'unshared', nonPage: isNonPageReason(reason) ? reason : null };
    case 'lost':
      return null;
  }
}

/** The page in the store as if it had been fetched here. */
async function readStored(
  keyed: Keyed,
  isEnough: (entry: Entry) => boolean,
  deps: PipelineDeps,
): Promise<FilledPage | null> {
  const found = await deps.pages.lookUp(keyed.key, keyed.ref, keyed.decision.normalized);
  if (found.state !== 'hit' || found.freshness !== 'fresh') return null;
  const { entry } = found;
  if (!isEnough(entry)) return null;
  const body = await deps.pages.readBody(entry, 'identity');
  if (body.state !== 'found') return null;
  const { status, headers, source } = entry;
  return {
    outcome: 'page',
    page: { status, headers, body: body.value, source, completeness: 'complete' },
    entry,
    unstored: null,
    isFromStore: true,
  };
}

function failed(reason: FailedFill['reason'], detail: string): FailedFill {
  return { outcome: 'failed', reason, detail };
}
