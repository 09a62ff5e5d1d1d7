// Carries out one job of the refresh queue: decided again under the configuration of now, got like
// any other page, and put off when that is not possible. Clients' renders go first.
import { randomUUID } from 'node:crypto';
import { questionAbout } from '../../core/decision/decision.ts';
import type { RefreshJob } from '../../core/refresh/refresh-job.ts';
import { describeStatus } from '../../core/refresh/refresh-result.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import { deriveKey } from '../phases.ts';
import type { RefreshResult, RefreshStep } from '../refresh-ports.ts';
import type { Fill, FilledPage, Keyed, Site } from '../state.ts';
import { renewPage } from './refresh-page.ts';

/** First wait after a failure; four times as long each time. */
const RETRY_MS_MIN = 5_000;
/** How long a job makes room when the renderer has enough to do with clients. */
const YIELD_MS = 5_000;
/** A job that found no room for so long is given up. */
const AGE_MS_MAX = 6 * 3_600_000;

/** What says that nothing is wrong with the page. */
const BUSY: ReadonlySet<string> = new Set(['renderer_full', 'wait_timeout']);
/** Reasons for not storing a page that are gone the next time. */
const PASSING: ReadonlySet<string | null> = new Set(['store_unavailable', 'purged']);

export interface RefreshContext {
  readonly site: Site;
  readonly pipeline: PipelineDeps;
}

export async function runRefresh(
  job: RefreshJob,
  { site, pipeline }: RefreshContext,
): Promise<RefreshStep> {
  const keyed = decideAgain(job, site);
  if (typeof keyed === 'string') return { outcome: 'dropped', detail: keyed };
  const nonPage = pipeline.knownNonPages.get(pageIdentity(keyed));
  if (nonPage !== null && job.reason !== 'recache') return { outcome: 'unstored', detail: nonPage };
  const fill = await renewPage(keyed, goodSince(job, keyed), pipeline);
  const result = toRefreshResult(fill);
  return result.outcome === 'failed' ? planRetry(job, result, pipeline.clock.now()) : result;
}

/** The page as a request for it would find it, or why there is none any more. */
function decideAgain(job: RefreshJob, site: Site): Keyed | string {
  const { url, dimensionId } = job;
  const decision = site.decider.decide({ ...questionAbout(url), dimensionId }, null);
  if (decision.error !== null) return decision.error;
  const { host, dimension, action, reason } = decision;
  if (host === null || dimension === null || action !== 'render') return reason;
  const request = {
    method: 'GET',
    url,
    hostName: '',
    address: null,
    peer: null,
    headers: [],
    httpVersion: '1.1',
    requestId: randomUUID(),
  };
  const planned = { request, site, decision, host, dimension, onInformation: () => undefined };
  const keyed = deriveKey(planned);
  return keyed.key === job.key && decision.normalized === url ? keyed : 'changed';
}

/**
 * Since when a stored page is as good as a new one. Whoever says that a page has changed wants one
 * whose fetch began after that, and all that is known of a stored page is when its fetch had ended.
 */
function goodSince({ reason, askedAt }: RefreshJob, keyed: Keyed): number {
  switch (reason) {
    case 'recache':
      return askedAt + keyed.decision.policy.render.timeoutMs;
    case 'bothit':
      return askedAt;
    case 'warm':
      return 0;
  }
}

function toRefreshResult(fill: Fill): RefreshResult {
  switch (fill.outcome) {
    case 'failed':
      return { outcome: 'failed', detail: fill.reason };
    case 'unshared':
      return { outcome: 'unstored', detail: fill.nonPage };
    case 'page':
      return describePage(fill);
  }
}

function describePage({ page, entry, unstored, isFromStore }: FilledPage): RefreshResult {
  const status = describeStatus(page.status);
  if (page.status >= 500) return { outcome: 'failed', detail: status };
  if (isFromStore === true) return { outcome: 'fresh', detail: status };
  if (entry !== null) return { outcome: 'stored', detail: status };
  return { outcome: PASSING.has(unstored) ? 'failed' : 'unstored', detail: unstored };
}

function planRetry(job: RefreshJob, result: RefreshResult, now: number): RefreshStep {
  if (now - job.askedAt > AGE_MS_MAX) return result;
  const { detail } = result;
  if (BUSY.has(detail ?? '')) return { outcome: 'later', detail, job, delayMs: YIELD_MS };
  if (job.failures + 1 >= job.tries) return result;
  const delayMs = RETRY_MS_MIN * 4 ** job.failures;
  return { outcome: 'later', detail, job: { ...job, failures: job.failures + 1 }, delayMs };
}
