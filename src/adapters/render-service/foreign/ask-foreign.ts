// A question to a render service that speaks another contract than ours. These have no marker that
// tells a page from a word of the service, so statuses that are about access, load and failure
// (401, 403, 429, 5xx …) are always the service's: then the fallbacks answer.
import { filterEndToEnd } from '../../../core/http/filter-headers.ts';
import { firstHeader } from '../../../core/http/header-list.ts';
import { isDelimited } from '../../../core/http/is-delimited.ts';
import type { RenderAnswer } from '../../../core/http/render-answer.ts';
import { toPairsUntyped } from '../../../core/http/to-pairs.ts';
import type { FetchFailure, PageJob } from '../../../pipeline/ports.ts';
import { buildPage } from '../build-page.ts';
import {
  type AskSettings,
  decode,
  discard,
  getStatus,
  type Protocol,
  readCapped,
  replyToError,
  type Service,
  type ServiceReply,
} from '../service.ts';
import type { Dialect, ForeignHead, ForeignPage } from './dialect.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Answers without content, or with a part of one: nothing we asked for. */
const NOT_A_PAGE: ReadonlySet<number> = new Set([204, 205, 206, 304]);

/** The wire contract of a foreign service. */
export function speakForeign(dialect: Dialect): Protocol {
  return {
    ask: async (service, job, settings, signal) =>
      await askForeign(service, { dialect, job, settings }, signal),
    isReady: async (service, { token }, signal) => {
      const path = service.basePath + dialect.readyPath(token);
      const status = await getStatus(service, path, signal);
      return status !== null && dialect.isReadyStatus(status);
    },
  };
}

interface ForeignOrder {
  readonly dialect: Dialect;
  readonly job: PageJob;
  readonly settings: AskSettings;
}

async function askForeign(
  service: Service,
  { dialect, job, settings }: ForeignOrder,
  signal: AbortSignal,
): Promise<ServiceReply> {
  let hasAnswered = false;
  try {
    const call = dialect.buildCall(job, settings.token);
    const answer = await service.pool.request({
      method: call.method,
      path: service.basePath + call.path,
      headers: call.headers.flat(),
      body: call.body,
      responseHeaders: 'raw',
      signal,
    });
    hasAnswered = true;
    const head = { status: answer.statusCode, headers: toPairsUntyped(answer.headers) };
    const refusal = judgeStatus(head);
    const page = refusal === null ? dialect.readHead(head, job) : null;
    if (page === null) {
      discard(answer.body);
      return refusal ?? { kind: 'unusable', detail: 'no_mark' };
    }
    const bytesMax = settings.pageBytesMax;
    const raw = await readCapped(answer.body, bytesMax);
    if (raw === null) return { kind: 'broken', reason: 'too_large', detail: 'answer' };
    const coding = firstHeader(head.headers, 'content-encoding')?.toLowerCase() ?? 'identity';
    const html = await decode(raw, coding, bytesMax);
    const rendered = toRenderAnswer(page, html, isDelimited(head.headers.map(([name]) => name)));
    return { kind: 'result', result: buildPage(rendered, service.authority, bytesMax) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return replyToError(error, hasAnswered);
  }
}

/** What a status alone says of the service; null where it may be the page's. */
function judgeStatus({ status, headers }: ForeignHead): ServiceReply | null {
  const detail = `status_${status}`;
  if (status === 401 || status === 403 || status === 407) return { kind: 'unusable', detail };
  if (status === 429 || status === 503) return { kind: 'full' };
  if (status === 408 || status === 504) return failed('render_timeout', detail);
  // The page could not be loaded, or its URL was not liked: no sign of a sick service.
  if (status === 400) return failed('render_failed', detail);
  if (firstHeader(headers, 'x-prerender-reject-reason') !== null) {
    return failed('render_failed', 'rejected');
  }
  const isPage = status >= 200 && status < 500 && !NOT_A_PAGE.has(status);
  const isRedirect = status >= 300 && status < 400;
  if (isPage && (!isRedirect || REDIRECTS.has(status))) return null;
  return { kind: 'broken', reason: 'render_failed', detail };
}

function failed(reason: FetchFailure, detail: string): ServiceReply {
  return { kind: 'result', result: { outcome: 'failed', reason, detail } };
}

/** As our own contract would have said it. */
function toRenderAnswer(
  { status, location, headers }: ForeignPage,
  html: Buffer,
  isWhole: boolean,
): RenderAnswer {
  const captured = isWhole ? 'complete' : 'partial';
  return {
    head: {
      outcome: REDIRECTS.has(status) ? 'redirect' : captured,
      status,
      final_url: null,
      location,
      headers: filterEndToEnd(headers),
      timings: {},
      pending_requests: [],
      console_errors: [],
      error: null,
    },
    html,
  };
}
