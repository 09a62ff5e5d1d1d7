// Fetch and store: gets one page and keeps it where that is allowed. Runs as a flight that belongs
// to no client, under its own deadline.
import { questionAbout } from '../../core/decision/decision.ts';
import { decideStorable, type Standing } from '../../core/http/cacheable.ts';
import { isHtml } from '../../core/http/content-kind.ts';
import { filterStored } from '../../core/http/filter-headers.ts';
import { startLifetime } from '../../core/http/freshness.ts';
import { firstHeader, headerValues } from '../../core/http/header-list.ts';
import type { EffectivePolicy } from '../../core/policy/policy.ts';
import { HEAD_BYTES_MAX, readMetaTags } from '../../core/purge/read-meta-tags.ts';
import { splitTags, TAG_FIELDS } from '../../core/purge/tag.ts';
import type { PipelineDeps } from '../deps.ts';
import type { HeaderList, Page, PageJob } from '../ports.ts';
import type { FailedFill, FilledPage, Keyed, UnstoredReason } from '../state.ts';
import type { PageDraft } from '../store/save-page.ts';
import { isWhole } from './judge-fill.ts';
import { learnRule } from './learn-rule.ts';
import type { RunningFill } from './running-fills.ts';

export interface FillOrder {
  /**
   * false when the store could not be asked: what is fetched now is not kept, since a purge or a
   * better page may be in the store already
   */
  readonly mayStore: boolean;
  /** Client headers that go along. They are not in the key, so the page is that client's alone. */
  readonly headers: HeaderList;
}

/** @param running what this is to the purges that come meanwhile */
export async function fillPage(
  keyed: Keyed,
  order: FillOrder,
  running: RunningFill,
  deps: PipelineDeps,
): Promise<FilledPage | FailedFill> {
  const { policy, normalized } = keyed.decision;
  const job: PageJob = {
    url: normalized,
    host: keyed.host,
    dimension: keyed.dimension,
    render: policy.render,
    headers: order.headers,
    requestId: keyed.request.requestId,
  };
  const result = await deps.source.get(job, AbortSignal.timeout(policy.render.timeoutMs));
  if (result.outcome === 'failed') return result;
  const kept = await keepPage(keyed, { ...order, page: result.page, running }, deps);
  // An answer to one client's headers says nothing about the page.
  if (order.headers.length === 0) await learnRule(keyed, result.page, deps);
  return { outcome: 'page', page: result.page, ...kept };
}

interface Keep extends FillOrder {
  readonly page: Page;
  readonly running: RunningFill;
}

async function keepPage(
  keyed: Keyed,
  { page, headers, mayStore, running }: Keep,
  deps: PipelineDeps,
): Promise<Pick<FilledPage, 'entry' | 'unstored'>> {
  if (!isPage(page)) return { entry: null, unstored: 'not_html' };
  const { policy, normalized } = keyed.decision;
  const storable = decideStorable({
    page,
    policy: policy.render.cache,
    url: normalized,
    safeRequestSent: new Set(headers.map(([name]) => name.toLowerCase())),
    cookiesIgnored: policy.bypass.cookies === 'ignore',
    normalize: (url) => normalizeAgain(keyed, url),
  });
  if (!storable.store) return { entry: null, unstored: storable.reason };
  if (headers.length > 0) return { entry: null, unstored: 'request_headers' };
  if (!mayStore) return { entry: null, unstored: 'store_unavailable' };
  const { standing, lifetime } = storable;
  if (standing !== 'good' && (await hasBetter(keyed, standing, deps))) {
    return { entry: null, unstored: standing === 'partial' ? 'partial' : 'status' };
  }
  const draft: PageDraft = {
    key: keyed.key,
    ref: keyed.ref,
    url: normalized,
    source: page.source,
    status: page.status,
    headers: storedHeaders(page, policy),
    body: page.body,
    ...(standing === 'partial' && { partial: true }),
    ...startLifetime(deps.clock.now(), lifetime, deps.random()),
    tags: tagsOf(page),
    since: running.since,
    isPurged: running.isPurged,
  };
  const saved = await deps.storing.take(keyed.key, () => deps.pages.save(draft));
  if (saved === null) return { entry: null, unstored: 'store_unavailable' };
  return saved.stored
    ? { entry: saved.entry, unstored: null }
    : { entry: null, unstored: unstoredReason(saved.reason) };
}

/** What an entry keeps; a rendered page is UTF-8 bytes whatever its origin had said. */
function storedHeaders(
  page: Page,
  { headers: { safeResponse }, normalization }: EffectivePolicy,
): HeaderList {
  // The page's own No-Vary-Search goes before the one we would make.
  const ownToo = new Set(safeResponse).add('no-vary-search');
  const kept = normalization.noVarySearch === 'emit' ? ownToo : safeResponse;
  const headers = filterStored(page.headers, kept);
  if (page.source === 'origin') return headers;
  const others = headers.filter(([name]) => name.toLowerCase() !== 'content-type');
  return [...others, ['Content-Type', 'text/html; charset=utf-8']];
}

/** By header fields, and by what the page itself says. */
function tagsOf({ headers, body }: Page): readonly string[] | null {
  const fields = TAG_FIELDS.flatMap((name) => headerValues(headers, name));
  const head = body.subarray(0, HEAD_BYTES_MAX).toString('latin1');
  return splitTags([...fields, ...readMetaTags(head)]);
}

/**
 * A file is known by its type. An error in plain text says nothing about what the URL is, nor does
 * a redirect, nor an answer that names no type.
 */
function isPage(page: Page): boolean {
  const contentType = firstHeader(page.headers, 'content-type');
  const isSuccess = page.status >= 200 && page.status < 300;
  return !isSuccess || contentType === null || isHtml(contentType);
}

/**
 * Whether there is a page that this one may not replace: a good one, even when it has expired; and
 * a failure replaces nothing at all.
 */
async function hasBetter(keyed: Keyed, standing: Standing, deps: PipelineDeps): Promise<boolean> {
  const found = await deps.pages.lookUp(keyed.key, keyed.ref, keyed.decision.normalized);
  if (found.state !== 'hit') return found.state === 'unavailable';
  return standing === 'negative' || isWhole(found.entry);
}

function normalizeAgain(keyed: Keyed, url: string): string | null {
  const again = keyed.site.decider.decide(questionAbout(url), null);
  return again.error === null && again.host === keyed.host ? again.normalized : null;
}

function unstoredReason(reason: string): UnstoredReason {
  return reason === 'collision' || reason === 'purged' ? reason : 'store_unavailable';
}
