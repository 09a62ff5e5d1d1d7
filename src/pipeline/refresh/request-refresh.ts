// What an operator asks of the refresh queue: `recache` has pages got again while the old ones are
// served; `warm` has those got that are not there, and tells of each.
import type { Decider } from '../../core/decision/create-decider.ts';
import type { RefreshJob } from '../../core/refresh/refresh-job.ts';
import { describeStatus } from '../../core/refresh/refresh-result.ts';
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
  /** How often each page is tried. */
  readonly tries: number;
}

export type RefreshRefusal = NoPageReason | 'queue_full' | 'queue_unavailable';

export interface RecacheReport {
  /** How many of the URLs. */
  readonly accepted: number;
  /** One a URL and dimension. */
  readonly pages: number;
  readonly refused: readonly { readonly url: string; readonly reason: RefreshRefusal }[];
}

/** A page that is put off: why, and for how long. Published JSON, hence snake_case. */
export interface WarmRetry {
  readonly dimension: string;
  readonly detail: string | null;
  readonly delay_ms: number;
}

export type WarmReport =
  /** Each time one of its pages is to be tried again; the URL's own report follows in the end. */
  | { readonly url: string; readonly retry: WarmRetry }
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
  { urls, dimension, tries }: RefreshCommand,
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
    const order = { reason: 'recache', tries } as const;
    const reasons = await Promise.all(found.value.map((page) => enqueue(page, order, context)));
    const reason = reasons.find((one) => one !== null) ?? null;
    if (reason !== null) refused.push({ url, reason });
    pages += reasons.filter((one) => one === null).length;
  }
  return { accepted: urls.length - refused.length, pages, refused };
}

/** One report a URL, in the order in which they are done, and one for each page put off. */
export async function* warmPages(
  { urls, dimension, tries }: RefreshCommand,
  context: RefreshRequests,
): AsyncGenerator<WarmReport> {
  const reports: WarmReport[] = [];
  let wake = (): void => undefined;
  const tell = (report: WarmReport): void => {
    reports.push(report);
    wake();
  };
  let open = urls.length;
  const defects: unknown[] = [];
  for (const url of urls) {
    warmUrl({ url, dimension, tries, tell }, context).then(
      (report) => {
        open -= 1;
        tell(report);
      },
      (cause: unknown) => {
        defects.push(cause);
        wake();
      },
    );
  }
  while (open > 0 || reports.length > 0) {
    if (defects.length > 0) throw defects[0];
    const report = reports.shift();
    if (report !== undefined) {
      yield report;
      continue;
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

interface WarmOrder {
  readonly url: string;
  readonly dimension: string | null;
  readonly tries: number;
  readonly tell: (report: WarmReport) => void;
}

async function warmUrl(
  { url, dimension: name, tries, tell }: WarmOrder,
  context: RefreshRequests,
): Promise<WarmReport> {
  const found = findRefreshPages(url, name, context.decider);
  if (!found.ok) return { url, refused: found.error };
  const pages = await Promise.all(
    found.value.map(async (page) => {
      const { dimension } = page;
      const onPutOff: PutOff = ({ detail, delayMs }) =>
        tell({ url, retry: { dimension, detail, delay_ms: delayMs } });
      return { dimension, ...(await warmPage(page, { tries, onPutOff }, context)) };
    }),
  );
  return { url, pages };
}

type PutOff = Parameters<RefreshWaiters['expect']>[1];

async function warmPage(
  page: RefreshPage,
  { tries, onPutOff }: { readonly tries: number; readonly onPutOff: PutOff },
  context: RefreshRequests,
): Promise<RefreshResult> {
  const stored = await context.pages.lookUp(page.key, page.ref, page.url);
  if (stored.state === 'hit' && stored.freshness === 'fresh' && isWhole(stored.entry)) {
    return { outcome: 'fresh', detail: describeStatus(stored.entry.status) };
  }
  const awaited = context.waiters.expect(page.key, onPutOff);
  const refusal = await enqueue(page, { reason: 'warm', tries }, context);
  if (refusal === null) return await awaited.result;
  awaited.cancel();
  return { outcome: 'failed', detail: refusal };
}

/** @returns why it was not taken on, or null */
async function enqueue(
  { key, url, ref }: RefreshPage,
  order: Pick<RefreshJob, 'reason' | 'tries'>,
  { add, clock }: RefreshRequests,
): Promise<'queue_full' | 'queue_unavailable' | null> {
  const { hostId, dimensionId } = ref;
  const askedAt = clock.now();
  const added = await add({ key, url, hostId, dimensionId, askedAt, failures: 0, ...order });
  if (added.state === 'unavailable') return 'queue_unavailable';
  return added.value === 'full' ? 'queue_full' : null;
}
