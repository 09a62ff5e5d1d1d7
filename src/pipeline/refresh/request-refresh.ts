// What an operator asks of the refresh queue: `recache` has pages got again while the old ones are
// served; `warm` has those got that are not there, and tells of each.
import type { Decider } from '../../core/decision/create-decider.ts';
import type { RefreshJob, RefreshReason } from '../../core/refresh/refresh-job.ts';
import { isWhole } from '../fetch/judge-fill.ts';
import type { Clock } from '../ports.ts';
import type { RefreshQueue, RefreshResult } from '../refresh-ports.ts';
import type { PageStore } from '../store/page-store.ts';
import { findRefreshPages, type NoPageReason, type RefreshPage } from './find-refresh-pages.ts';
import type { RefreshWaiters } from './refresh-waiters.ts';

/** How many URLs one request to the admin API may name: those of `warm` it waits for. */
export const RECACHE_URLS_MAX = 1_000;
export const WARM_URLS_MAX = 100;

export interface RefreshCommand {
  /** In any spelling. */
  readonly urls: readonly string[];
  /** Its name; null: all that are rendered. */
  readonly dimension: string | null;
}

export type RefreshRefusal = NoPageReason | 'queue_full' | 'queue_unavailable';

export interface RecacheReport {
  /** How many of the URLs. */
  readonly accepted: number;
  /** One a URL and dimension. */
  readonly pages: number;
  readonly refused: readonly { readonly url: string; readonly reason: RefreshRefusal }[];
}

export type WarmReport =
  | { readonly url: string; readonly refused: NoPageReason }
  | {
      readonly url: string;
      readonly pages: readonly (RefreshResult & { readonly dimension: string })[];
    };

export interface RefreshRequests {
  readonly decider: Decider;
  readonly pages: Pick<PageStore, 'lookUp'>;
  readonly add: RefreshQueue['add'];
  readonly waiters: RefreshWaiters;
  readonly clock: Clock;
}

/** Asks for all of them; nobody waits for the pages. */
export async function requestRecache(
  { urls, dimension }: RefreshCommand,
  context: RefreshRequests,
): Promise<RecacheReport> {
  const refused: { url: string; reason: RefreshRefusal }[] = [];
  let pages = 0;
  for (const url of urls) {
    const found = findRefreshPages(url, dimension, context.decider);
    if (!found.ok) {
      refused.push({ url, reason: found.error });
      continue;
    }
    const reasons = await Promise.all(found.value.map((page) => enqueue(page, 'recache', context)));
    const reason = reasons.find((one) => one !== null) ?? null;
    if (reason !== null) refused.push({ url, reason });
    pages += reasons.filter((one) => one === null).length;
  }
  return { accepted: urls.length - refused.length, pages, refused };
}

/** One report a URL, in the order in which they are done. */
export async function* warmPages(
  { urls, dimension }: RefreshCommand,
  context: RefreshRequests,
): AsyncGenerator<WarmReport> {
  const running = new Map(
    urls.map((url, index) => [
      index,
      warmUrl(url, dimension, context).then((report) => ({ index, report })),
    ]),
  );
  while (running.size > 0) {
    const { index, report } = await Promise.race(running.values());
    running.delete(index);
    yield report;
  }
}

async function warmUrl(
  url: string,
  dimension: string | null,
  context: RefreshRequests,
): Promise<WarmReport> {
  const found = findRefreshPages(url, dimension, context.decider);
  if (!found.ok) return { url, refused: found.error };
  const pages = await Promise.all(
    found.value.map(async (page) => ({
      dimension: page.dimension,
      ...(await warmPage(page, context)),
    })),
  );
  return { url, pages };
}

async function warmPage(page: RefreshPage, context: RefreshRequests): Promise<RefreshResult> {
  const stored = await context.pages.lookUp(page.key, page.ref, page.url);
  if (stored.state === 'hit' && stored.freshness === 'fresh' && isWhole(stored.entry)) {
    return { outcome: 'fresh', detail: null };
  }
  const awaited = context.waiters.expect(page.key);
  const refusal = await enqueue(page, 'warm', context);
  if (refusal === null) return await awaited.result;
  awaited.cancel();
  return { outcome: 'failed', detail: refusal };
}

/** @returns why it was not taken on, or null */
async function enqueue(
  { key, url, ref }: RefreshPage,
  reason: RefreshReason,
  { add, clock }: RefreshRequests,
): Promise<'queue_full' | 'queue_unavailable' | null> {
  const { hostId, dimensionId } = ref;
  const askedAt = clock.now();
  const job: RefreshJob = { key, url, hostId, dimensionId, reason, askedAt, failures: 0 };
  const added = await add(job);
  if (added.state === 'unavailable') return 'queue_unavailable';
  return added.value === 'full' ? 'queue_full' : null;
}
