// Between the pipeline's words and the contract's: a job becomes a request, an answer a page.
import { isUtf8 } from 'node:buffer';
import { isHtml } from '../../core/http/content-kind.ts';
import { dropNeverFilled, filterEndToEnd } from '../../core/http/filter-headers.ts';
import { firstHeader, type HeaderList } from '../../core/http/header-list.ts';
import { encodeLocation } from '../../core/http/location.ts';
import type { RenderAnswer, RenderErrorCode } from '../../core/http/render-answer.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import type { FetchFailure, PageJob, PageResult } from '../../pipeline/ports.ts';

const FAILURES: Readonly<Record<RenderErrorCode, FetchFailure>> = {
  timeout: 'render_timeout',
  crashed: 'render_failed',
  too_large: 'too_large',
  loop: 'loop',
  origin_unreachable: 'destination_unavailable',
  origin_timeout: 'http_response_timeout',
  unknown_host: 'render_failed',
  refused: 'render_failed',
  internal: 'render_failed',
};

/** Time kept back for the answer's way to us. */
const ANSWER_MARGIN_MS = 500;

/** Enough of what a partial page was waiting for to see what holds it up. */
const PENDING_MAX = 5;
const PENDING_CHARS_MAX = 200;

/** Fields of the origin's answer that no longer fit the rendered bytes, or that we write. */
const REPLACED: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-digest',
  'content-encoding',
  'content-md5',
  'content-type',
  'digest',
  'etag',
  'last-modified',
  'location',
]);

/**
 * The time a service gets: a little less than the job has, so that a healthy one says itself that
 * it was too late, and only a hung one misses the deadline.
 */
export function serviceTimeoutMs({ timeoutMs }: PageJob['render']): number {
  return timeoutMs - Math.min(ANSWER_MARGIN_MS, Math.floor(timeoutMs / 10));
}

/** The contract's request for a job. */
export function buildRenderRequest(job: PageJob): RenderRequest {
  const { dimension, render } = job;
  const timeoutMs = serviceTimeoutMs(render);
  return {
    url: job.url,
    user_agent: dimension.renderUserAgent,
    width: dimension.width,
    height: dimension.height,
    locale: dimension.locale,
    timeout_ms: timeoutMs,
    soft_timeout_ms: Math.min(render.softTimeoutMs, timeoutMs),
    wait_for: render.waitFor,
    selector: render.selector,
    additional_wait_ms: render.additionalWaitMs,
    long_poll_after_ms: Math.min(render.longPollAfterMs, timeoutMs),
    blocked_resource_types: render.blockedResourceTypes,
    blocked_patterns: render.blockedPatterns,
    strip_scripts: render.stripScripts,
    headers: dropNeverFilled(job.headers),
    request_id: job.requestId,
  };
}

/**
 * The page in an answer, or the failure it reports.
 *
 * @param authority the service's own host and port, which no header may name
 */
export function buildPage(
  { head, html }: RenderAnswer,
  authority: string,
  pageBytesMax: number,
): PageResult {
  if (head.error !== null) return failed(FAILURES[head.error.code], head.error.code);
  if (html.length > pageBytesMax) return failed('too_large', 'html');
  if (!isUtf8(html)) return failed('render_failed', 'not_utf8');
  const headers = filterEndToEnd(head.headers).filter(
    ([name, value]) => !REPLACED.has(name.toLowerCase()) && !value.includes(authority),
  );
  if (head.outcome === 'redirect') {
    const location = encodeLocation(head.location ?? '');
    if (location === null) return failed('render_failed', 'location');
    if (location.includes(`//${authority}`)) return failed('render_failed', 'inner_location');
    return page(head.status, [...headers, ['location', location]], Buffer.alloc(0), 'complete');
  }
  // A success that shows nothing is a broken answer: every document has at least its root. An error
  // may be all that there is to say.
  if (html.length === 0 && head.status < 300) return failed('render_failed', 'empty');
  const body = Buffer.from(html.buffer, html.byteOffset, html.byteLength);
  const type = ['content-type', pageType(head.headers)] as const;
  if (head.outcome !== 'partial') return page(head.status, [type, ...headers], body, 'complete');
  const result = page(head.status, [type, ...headers], body, 'partial');
  return { ...result, pending: head.pending_requests.flatMap(namePending).slice(0, PENDING_MAX) };
}

/** Where a request went; what else is in a URL may be secret. */
function namePending(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { protocol, host, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) return [];
  return [`${protocol}//${host}${pathname}`.slice(0, PENDING_CHARS_MAX)];
}

/** Rendered HTML is UTF-8; what a browser made of another type keeps its name: no page. */
function pageType(headers: HeaderList): string {
  const declared = firstHeader(headers, 'content-type');
  return declared === null || isHtml(declared) ? 'text/html; charset=utf-8' : declared;
}

function page(
  status: number,
  headers: HeaderList,
  body: Buffer,
  completeness: 'complete' | 'partial',
): Extract<PageResult, { outcome: 'page' }> {
  return { outcome: 'page', page: { status, headers, body, source: 'render', completeness } };
}

function failed(reason: FetchFailure, detail: string): PageResult {
  return { outcome: 'failed', reason, detail };
}
