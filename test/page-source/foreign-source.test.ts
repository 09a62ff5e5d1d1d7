// Render services of other contracts as page sources, each against a real server that speaks it:
// what it is asked, what its answers are worth, and what is never taken for a page.
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServiceSource } from '../../src/adapters/render-service/create-service-source.ts';
import { firstHeader } from '../../src/core/http/header-list.ts';
import type { PageJob, PageSource } from '../../src/pipeline/ports.ts';
import {
  type ForeignName,
  type ForeignService,
  startForeignService,
} from '../helpers/foreign-service.ts';
import { dimension } from '../helpers/policies.ts';
import { noAbort, pageJob, pageOf, wordOf } from './page-jobs.ts';
import { describePageSource, PAGE_BYTES_MAX } from './page-source.contract.ts';

const HTML = [['Content-Type', 'text/html; charset=utf-8']] as const;
/** A query that breaks in every client that decodes or encodes once too often (A1, A2, A5). */
const HARD_URL = 'https://site.test/a%2Fb?q=a%26b%23c%2Bd+e&r=1?x=2&%3D=%25';

function createSource(protocol: ForeignName, urls: readonly string[], token = 'key &1') {
  const clock = { now: Date.now };
  return createServiceSource({ clock, urls, token, protocol, pageBytesMax: PAGE_BYTES_MAX });
}

const REDIRECTS = [301, 302, 303, 307, 308];
describe.each<[ForeignName, readonly number[], readonly number[]]>([
  ['prerender', [200, 404, 410], REDIRECTS],
  ['rendertron', [200, 404, 410], REDIRECTS],
  ['browserless', [200, 404, 410, 500, 503], []],
])('%s', (name, statuses, redirects) => {
  const passesHeaders = name !== 'browserless';
  const start = async () => {
    const service = await startForeignService(name);
    return {
      source: createSource(name, [service.url]),
      job: ({
        headers = [],
        timeoutMs = 10_000,
      }: {
        headers?: PageJob['headers'];
        timeoutMs?: number;
      } = {}) => pageJob([], { headers, renderChanges: { timeoutMs } }),
      servePage: (page: { status: number; headers: PageJob['headers']; html: string }) =>
        service.servePage({ ...page, body: page.html }),
      serveRedirect: (status: number, location: string) =>
        service.servePage({ status, headers: [['Location', location]], body: '' }),
      serveHuge: (bytes: number) =>
        service.servePage({ status: 200, headers: HTML, body: 'a'.repeat(bytes) }),
      serve: service.serve,
      received: () =>
        service.requests
          .map(({ target, headers, body }) => {
            const names = JSON.stringify(headers).replace('x-country', 'X-Country');
            return `${decodeURIComponent(target)} ${names} ${body}`;
          })
          .join('\n'),
      requestCount: () => service.requests.length,
      stopServer: service.close,
    };
  };
  describePageSource(name, start, { statuses, redirects, passesHeaders });
});

describe.each<ForeignName>(['prerender', 'rendertron', 'browserless'])('%s', (name) => {
  let service: ForeignService;
  let source: PageSource;
  beforeEach(async () => {
    service = await startForeignService(name);
    source = createSource(name, [service.url]);
  });
  afterEach(async () => {
    await source.close();
    await service.close();
  });
  const get = (job = pageJob([])) => source.get(job, noAbort());

  it.each([
    [400, 'render_failed'],
    [401, 'no_renderer'],
    [403, 'no_renderer'],
    [407, 'no_renderer'],
    [408, 'render_timeout'],
    [429, 'renderer_full'],
    [500, 'render_failed'],
    [502, 'render_failed'],
    [503, 'renderer_full'],
    [504, 'render_timeout'],
    [204, 'render_failed'],
    [206, 'render_failed'],
    [304, 'render_failed'],
    [300, 'render_failed'],
  ])('C8: a %i is the service’s trouble, never the page’s status', async (status, word) => {
    const marks = [
      ['X-Renderer', 'rendertron'],
      ['X-Response-Code', '200'],
    ] as const;
    service.answer({ status, headers: [...HTML, ...marks], body: '' });
    expect(wordOf(await get())).toBe(word);
    expect(service.requests).toHaveLength(1);
  });

  it('takes the coding off, and a bomb stays at the limit', async () => {
    const headers = [...HTML, ['Content-Encoding', 'gzip']] as const;
    const marks = [
      ['X-Renderer', 'rendertron'],
      ['X-Response-Code', '200'],
    ] as const;
    const serve = (html: string) =>
      service.answer({ status: 200, headers: [...headers, ...marks], body: gzipSync(html) });
    serve('<p>Grüße</p>');
    expect(pageOf(await get()).body.toString()).toBe('<p>Grüße</p>');
    serve('a'.repeat(PAGE_BYTES_MAX + 1));
    expect(wordOf(await get())).toBe('too_large');
  });

  it('is ready while it answers', async () => {
    expect((await source.check()).state).toBe('done');
    await service.close();
    expect((await source.check()).state).toBe('unavailable');
  });

  it('shares the jobs over several, and leaves out one that refuses us', async () => {
    const other = await startForeignService(name);
    const both = createSource(name, [service.url, other.url]);
    for (let job = 0; job < 4; job += 1) pageOf(await both.get(pageJob([]), noAbort()));
    expect([service.requests.length, other.requests.length]).toEqual([2, 2]);
    service.answer({ status: 401, headers: [], body: '' });
    for (let job = 0; job < 4; job += 1) pageOf(await both.get(pageJob([]), noAbort()));
    expect([service.requests.length, other.requests.length]).toEqual([3, 6]);
    await both.close();
    await other.close();
  });

  it('asks with the URL intact, as the dimension’s client', async () => {
    const mobile = dimension({ name: 'mobile', width: 412, height: 915, locale: 'de-DE' });
    pageOf(await get(pageJob([], { url: HARD_URL, dimension: mobile })));
    const [request] = service.requests;
    const asked = {
      prerender: ['GET', `/${HARD_URL}`],
      rendertron: ['GET', `/render/${encodeURIComponent(HARD_URL)}?mobile`],
      browserless: ['POST', '/content?token=key%20%261'],
    }[name];
    expect([request?.method, request?.target]).toEqual(asked);
    const client =
      name === 'browserless'
        ? JSON.parse(request?.body ?? '').setExtraHTTPHeaders
        : request?.headers;
    expect(client).toMatchObject({ 'user-agent': 'edge-gateway-test', 'accept-language': 'de-DE' });
  });
});

describe('what only one of them does', () => {
  const serve = async (name: ForeignName) => {
    const service = await startForeignService(name);
    const source = createSource(name, [service.url]);
    const close = async () => {
      await source.close();
      await service.close();
    };
    return { service, get: () => source.get(pageJob([]), noAbort()), close };
  };

  it('prerender: the headers of its contract, a fresh id each time', async () => {
    const { service, get, close } = await serve('prerender');
    pageOf(await get());
    pageOf(await get());
    const [first, second] = service.requests.map(({ headers }) => headers);
    expect(first).toMatchObject({
      'x-prerender-token': 'key &1',
      'x-prerender-int-type': 'EdgeGateway',
    });
    expect(first?.['x-prerender-request-id']).not.toBe(second?.['x-prerender-request-id']);
    await close();
  });

  it('prerender: a rejection is not the page’s 404, and its own fields stay behind', async () => {
    const { service, get, close } = await serve('prerender');
    const reject = ['X-Prerender-Reject-Reason', 'url-invalid'] as const;
    service.answer({ status: 404, headers: [...HTML, reject], body: 'no' });
    expect(wordOf(await get())).toBe('render_failed');
    const own = ['X-Prerender-RequestId', '1'] as const;
    service.answer({ status: 404, headers: [...HTML, own], body: 'no' });
    expect(pageOf(await get()).headers).toEqual([
      ['content-type', HTML[0][1]],
      ['Date', expect.anything()],
    ]);
    await close();
  });

  it.each<ForeignName>(['rendertron', 'browserless'])(
    '%s: B10: an answer without its mark is no page',
    async (name) => {
      const { service, get, close } = await serve(name);
      service.answer({ status: 200, headers: HTML, body: '<p>Welcome to nginx</p>' });
      expect(wordOf(await get())).toBe('no_renderer');
      await close();
    },
  );

  it('browserless: B4: a page that moved is a redirect', async () => {
    const { service, get, close } = await serve('browserless');
    const at = (url: string) =>
      service.answer({
        status: 200,
        headers: [...HTML, ['X-Response-Code', '200'], ['X-Response-URL', url]],
        body: '<p>ok</p>',
      });
    at('https://site.test/new');
    const moved = pageOf(await get());
    expect([moved.status, firstHeader(moved.headers, 'location')]).toEqual([
      302,
      'https://site.test/new',
    ]);
    at('https://site.test/page?a=1');
    expect(wordOf(await get())).toBe('200');
    await close();
  });

  it('browserless: waits, viewport and blocked types of the policy', async () => {
    const service = await startForeignService('browserless');
    const source = createSource('browserless', [service.url]);
    const renderChanges = {
      selector: '#app',
      additionalWaitMs: 200,
      waitFor: 'networkIdle',
      blockedResourceTypes: ['Media', 'Font'],
    } as const;
    pageOf(await source.get(pageJob([], { renderChanges }), noAbort()));
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({
      url: 'https://site.test/page?a=1',
      gotoOptions: { timeout: 9_500, waitUntil: 'networkidle0' },
      viewport: { width: 1280, height: 800 },
      waitForSelector: { selector: '#app', timeout: 9_500 },
      waitForTimeout: 200,
      rejectResourceTypes: ['media', 'font'],
      setExtraHTTPHeaders: { 'x-edge-render': '1', 'x-prerender': '1' },
    });
    await source.close();
    await service.close();
  });
});
