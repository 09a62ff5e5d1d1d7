// Browserless' `POST /content`: the page's own status is in a header, the HTTP status is about the
// service. It follows redirects and says where it ended, so a moved page is known and answered as
// a redirect; its code is lost, and 302 promises the least.
import { firstHeader } from '../../../core/http/header-list.ts';
import { renderMarks } from '../../../core/http/render-loop.ts';
import type { WaitEvent } from '../../../core/policy/policy.ts';
import type { PageJob } from '../../../pipeline/ports.ts';
import { serviceTimeoutMs } from '../build-page.ts';
import type { Dialect, ForeignPage } from './dialect.ts';
import { pageHeaders } from './page-headers.ts';

const STATUS_HEADER = 'x-response-code';
const URL_HEADER = 'x-response-url';
/** It cuts the URL in its header. */
const URL_CHARS_MAX = 1_000;
const MOVED_STATUS = 302;

const WAIT_WORDS: Readonly<Record<WaitEvent, string>> = {
  DOMContentLoaded: 'domcontentloaded',
  load: 'load',
  networkIdle: 'networkidle0',
  networkAlmostIdle: 'networkidle2',
};

export const browserless: Dialect = {
  buildCall: (job, token) => ({
    method: 'POST',
    path: `/content${tokenQuery(token)}`,
    headers: [
      ['content-type', 'application/json'],
      ['accept-encoding', 'gzip, br'],
    ],
    body: JSON.stringify(describeJob(job)),
  }),
  readHead: ({ status, headers }, job): ForeignPage | null => {
    const code = firstHeader(headers, STATUS_HEADER) ?? '';
    if (status !== 200 || !/^[2-5]\d\d$/.test(code)) return null;
    const type = headers.filter(([name]) => name.toLowerCase() === 'content-type');
    const target = movedTo(firstHeader(headers, URL_HEADER), job.url);
    return target === null
      ? { status: Number(code), headers: type, location: null }
      : { status: MOVED_STATUS, headers: [], location: target };
  },
  readyPath: (token) => `/pressure${tokenQuery(token)}`,
  isReadyStatus: (status) => status === 200,
};

function tokenQuery(token: string | null): string {
  return token === null ? '' : `?token=${encodeURIComponent(token)}`;
}

/** Field names are the service's. */
function describeJob(job: PageJob): object {
  const { dimension, render } = job;
  const timeout = serviceTimeoutMs(render);
  return {
    url: job.url,
    gotoOptions: { timeout, waitUntil: WAIT_WORDS[render.waitFor] },
    viewport: { width: dimension.width, height: dimension.height },
    // Sent by the browser with everything it loads, hence marked as a render's.
    setExtraHTTPHeaders: Object.fromEntries([...pageHeaders(job), ...renderMarks(1)]),
    rejectResourceTypes: render.blockedResourceTypes.map((type) => type.toLowerCase()),
    ...(render.selector === null
      ? {}
      : { waitForSelector: { selector: render.selector, timeout } }),
    ...(render.additionalWaitMs === 0 ? {} : { waitForTimeout: render.additionalWaitMs }),
  };
}

/** Where the browser ended, when that is another page than the one asked for. */
function movedTo(finalUrl: string | null, askedUrl: string): string | null {
  if (finalUrl === null || finalUrl.length >= URL_CHARS_MAX || !URL.canParse(finalUrl)) return null;
  return new URL(finalUrl).href === new URL(askedUrl).href ? null : finalUrl;
}
