// Collapse, fetch, and what happens when that fails: spec request-flow, the trouble table.
import { filterFillRequest } from '../../core/http/filter-headers.ts';
import { isOriginFailure } from '../../core/http/origin-failure.ts';
import { chooseFallback, type Trouble } from '../../core/policy/fallback.ts';
import { passOn } from '../deliver-bypass.ts';
import { answerEntry, answerPage } from '../deliver-page.ts';
import { answerFailure, answerOverload } from '../deliver-status.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { HeaderList } from '../ports.ts';
import {
  type Delivery,
  type FailedFill,
  type Fill,
  type FilledPage,
  type Keyed,
  type NotAnswered,
  servesStale,
} from '../state.ts';
import { rememberUnshared } from './failure-memory.ts';
import { flyOut } from './fly-out.ts';
import { isForAll, nonPageReason } from './judge-fill.ts';
import { leadOrFollow } from './lead-or-follow.ts';
import { waitForPage } from './wait-for-page.ts';

/** Gets a page that was not in the store, together with everyone else who wants it now. */
export async function fetchPage(
  keyed: Keyed,
  found: NotAnswered,
  deps: PipelineDeps,
): Promise<Delivery> {
  // HEAD is answered from an entry or by the origin: it never renders and never writes.
  if (keyed.request.method === 'HEAD') {
    return passOn(keyed, { host: keyed.host, decision: keyed.decision, cache: 'miss' });
  }
  const identity = pageIdentity(keyed);
  const failure = deps.failures.get(identity);
  if (failure !== null) return await recover(keyed, failure.fill, false, deps);
  const isAlone = deps.knownUnshared.get(identity) !== null || ownHeaders(keyed).length > 0;
  if (isAlone) return await fetchAlone(keyed, found, deps);
  const place = deps.flights.join(identity, keyed.site.waitersPerKeyMax, () =>
    flyTogether(keyed, found, deps),
  );
  if (place.role === 'refused') return answerOverload(keyed);
  const fill = await waitForPage(keyed, place.result, deps);
  if (fill === null) return giveUp(keyed);
  const isCollapsed = place.role === 'follower';
  if (fill.outcome === 'unshared') {
    return fill.nonPage === null
      ? await fetchAfter(keyed, found, deps)
      : passOn(keyed, { host: keyed.host, decision: keyed.decision, reason: fill.nonPage });
  }
  return !isCollapsed || isForAll(fill)
    ? await deliverFill(keyed, fill, { isCollapsed, found }, deps)
    : await fetchAfter(keyed, found, deps);
}

/** The others' copy will not do; unless all are failing by now, this client gets its own. */
async function fetchAfter(keyed: Keyed, found: NotAnswered, deps: PipelineDeps): Promise<Delivery> {
  const nowFailing = deps.failures.get(pageIdentity(keyed));
  return nowFailing === null
    ? await fetchAlone(keyed, found, deps)
    : await recover(keyed, nowFailing.fill, false, deps);
}

/** The first look-up said nothing about what was stored since, but what it said may not change. */
const RECHECKED: ReadonlySet<string | null> = new Set([null, 'expired']);

/** One fetch of all processes. What could not be stored, the others could not have either. */
async function flyTogether(keyed: Keyed, found: NotAnswered, deps: PipelineDeps): Promise<Fill> {
  const fetch = (): Promise<Fill> =>
    flyOut(keyed, { mayStore: mayStore(found), headers: [] }, deps);
  if (!mayStore(found)) return await fetch();
  const isEnough = RECHECKED.has(found.detail) ? () => true : null;
  const fill = await leadOrFollow(keyed, { fetch, isEnough }, deps);
  if (fill.outcome === 'unshared') rememberUnshared(keyed, fill.nonPage, deps);
  return fill;
}

/** Nobody else's copy will do, and nobody waits for this one. */
async function fetchAlone(keyed: Keyed, found: NotAnswered, deps: PipelineDeps): Promise<Delivery> {
  const order = { mayStore: mayStore(found), headers: ownHeaders(keyed) };
  const fill = await waitForPage(keyed, flyOut(keyed, order, deps), deps);
  if (fill === null) return giveUp(keyed);
  return await deliverFill(keyed, fill, { isCollapsed: false, found }, deps);
}

/** The client headers that the policy lets through to the page. */
function ownHeaders({ request, decision }: Keyed): HeaderList {
  return filterFillRequest(request.headers, decision.policy.headers.safeRequest);
}

/** The origin's page now is better than the rendered one too late. */
function giveUp(keyed: Keyed): Delivery {
  const { host, decision } = keyed;
  const isPreview = decision.bot?.kind === 'preview';
  if (!isPreview && decision.policy.render.onError === '503') {
    return answerFailure(keyed, { reason: 'wait_timeout', detail: '' });
  }
  const detail = isPreview ? 'preview_wait' : 'wait_timeout';
  return passOn(keyed, { host, decision, cache: 'miss', detail });
}

/** What the store could not say must not be overwritten. */
function mayStore(found: NotAnswered): boolean {
  return found.state === 'absent';
}

interface FillContext {
  readonly isCollapsed: boolean;
  readonly found: NotAnswered;
}

async function deliverFill(
  keyed: Keyed,
  fill: FilledPage | FailedFill,
  { isCollapsed, found }: FillContext,
  deps: PipelineDeps,
): Promise<Delivery> {
  if (fill.outcome === 'failed') return await recover(keyed, fill, isCollapsed, deps);
  const reason = nonPageReason(fill);
  // What a browser makes of a file is not the file; and of a redirect only the origin knows where
  // it ends.
  const isOurs = reason === 'not_html' && !isCollapsed && fill.page.source === 'origin';
  if (reason !== null && !isOurs) {
    return passOn(keyed, { host: keyed.host, decision: keyed.decision, reason });
  }
  if (fill.page.status >= 500) {
    const stale = await answerStale(keyed, `status_${fill.page.status}`, deps);
    if (stale !== null) return stale;
  }
  const isShared = isCollapsed || fill.isFromStore === true;
  return answerPage(keyed, { fill, isCollapsed: isShared, detail: fill.unstored ?? found.detail });
}

/** The fallback table, carried out. */
async function recover(
  keyed: Keyed,
  fill: FailedFill,
  isCollapsed: boolean,
  deps: PipelineDeps,
): Promise<Delivery> {
  const stale = await answerStale(keyed, fill.reason, deps);
  if (stale !== null) return stale;
  const { host, decision } = keyed;
  return chooseFallback(troubleOf(fill), decision.policy.render.onError) === 'origin'
    ? passOn(keyed, { host, decision, cache: 'miss', detail: fill.reason })
    : answerFailure(keyed, { ...fill, isCollapsed });
}

function troubleOf(fill: FailedFill): Trouble {
  const isOrigin = isOriginFailure(fill.reason) || fill.reason === 'loop';
  return isOrigin ? 'origin_failed' : 'source_failed';
}

/** The expired page, if the policy and the store still have it. */
async function answerStale(
  keyed: Keyed,
  detail: string,
  deps: PipelineDeps,
): Promise<Delivery | null> {
  if (!servesStale(keyed)) return null;
  const found = await deps.pages.lookUp(keyed.key, keyed.ref, keyed.decision.normalized);
  // A negative entry stands for the trouble itself and is no better than it.
  if (found.state !== 'hit' || found.entry.status >= 500) return null;
  const answer = await answerEntry(keyed, { how: 'stale', entry: found.entry, detail }, deps);
  return answer.state === 'found' ? answer.value : null;
}
