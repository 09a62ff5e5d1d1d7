// The page source `service` against a real render service on a socket: the contract, what it
// asks for, what it makes of every kind of answer, and how it spreads over several services.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createOffSource,
  createServiceSource,
} from '../../src/adapters/render-service/create-service-source.ts';
import { headerValues } from '../../src/core/http/header-list.ts';
import type { RenderHead } from '../../src/core/http/render-answer.ts';
import type { PageSource } from '../../src/pipeline/ports.ts';
import { dimension } from '../helpers/policies.ts';
import {
  type RenderScript,
  startRenderService,
  type TestRenderService,
} from '../helpers/render-service.ts';
import { noAbort, PAGE_URL, pageJob, pageOf, wordOf } from './page-jobs.ts';
import { describePageSource, PAGE_BYTES_MAX } from './page-source.contract.ts';

interface Wiring {
  readonly urls: readonly string[];
  readonly token: string | null;
  readonly now?: () => number;
}

function createSource({ urls, token, now = Date.now }: Wiring): PageSource {
  return createServiceSource({
    clock: { now },
    urls,
    token,
    protocol: 'edge-gateway',
    pageBytesMax: PAGE_BYTES_MAX,
  });
}

describePageSource('service', async () => {
  const service = await startRenderService();
  return {
    source: createSource({ urls: [service.url], token: service.token }),
    job: ({ headers = [], timeoutMs = 10_000 } = {}) =>
      pageJob([], { headers, renderChanges: { timeoutMs } }),
    servePage: ({ status, headers, html }) =>
      service.script('*', { kind: 'page', html, head: { status, headers } }),
    serveRedirect: (status, location) =>
      service.script('*', { kind: 'redirect', status, location }),
    serveHuge: (bytes) => service.script('*', { kind: 'huge', bytes }),
    serve: (trouble) => service.script('*', { kind: trouble }),
    received: () => JSON.stringify(service.requests),
    requestCount: () => service.requests.length,
    stopServer: service.close,
  };
});

describe('page source service', () => {
  let service: TestRenderService;
  let source: PageSource;
  beforeEach(async () => {
    service = await startRenderService();
    source = createSource({ urls: [service.url], token: service.token });
  });
  afterEach(async () => {
    await source.close();
    await service.close();
  });
  const get = (job = pageJob([])) => source.get(job, noAbort());

  it('asks by the contract', async () => {
    const job = pageJob([], {
      dimension: dimension({ name: 'mobile', width: 412, height: 915, locale: 'de-DE' }),
      headers: [['X-Country', 'de']],
      renderChanges: { selector: '#app', blockedPatterns: ['*ads*'], softTimeoutMs: 60_000 },
    });
    pageOf(await get(job));
    expect(service.requests).toEqual([
      {
        url: PAGE_URL,
        user_agent: 'edge-gateway-test',
        width: 412,
        height: 915,
        locale: 'de-DE',
        timeout_ms: 9_500,
        soft_timeout_ms: 9_500,
        wait_for: 'networkAlmostIdle',
        selector: '#app',
        additional_wait_ms: 0,
        long_poll_after_ms: 9_500,
        blocked_resource_types: [],
        blocked_patterns: ['*ads*'],
        strip_scripts: true,
        headers: [['X-Country', 'de']],
        request_id: 'request-1',
      },
    ]);
  });

  const page = (head: Partial<RenderHead>, html = '<p>ok</p>'): RenderScript => ({
    kind: 'page',
    html,
    head,
  });
  const garbage = (bytes: Uint8Array | string): RenderScript => ({
    kind: 'garbage',
    bytes: typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes,
  });
  const longHead = new Uint8Array([0x7f, 0xff, 0xff, 0xff, 0x7b, 0x7d]);

  it.each<[string, RenderScript, string]>([
    ['a page', page({}), '200'],
    ['a 404 of the page', page({ status: 404 }), '404'],
    ['a 503 of the page', page({ status: 503 }), '503'],
    ['a 403 of the page', page({ status: 403 }), '403'],
    ['a page that may have been cut', { kind: 'unframed', html: '<p>half a pa' }, 'render_failed'],
    ['a full queue', { kind: 'full' }, 'renderer_full'],
    ['C8: a 401 of the service', { kind: 'foreign', status: 401, body: 'no' }, 'no_renderer'],
    ['C8: a 403 of the service', { kind: 'foreign', status: 403, body: 'no' }, 'no_renderer'],
    ['C8: a 429 of the service', { kind: 'foreign', status: 429, body: 'no' }, 'no_renderer'],
    ['B10: a 404 without the mark', { kind: 'foreign', status: 404, body: 'no' }, 'no_renderer'],
    ['a foreign 200', { kind: 'foreign', status: 200, body: '<p>hi</p>' }, 'no_renderer'],
    ['a foreign redirect', { kind: 'foreign', status: 302, body: '' }, 'no_renderer'],
    ['a timeout it reports', { kind: 'failed', code: 'timeout' }, 'render_timeout'],
    ['a crash it reports', { kind: 'failed', code: 'crashed' }, 'render_failed'],
    ['a loop it reports', { kind: 'failed', code: 'loop' }, 'loop'],
    [
      'an origin it cannot reach',
      { kind: 'failed', code: 'origin_unreachable' },
      'destination_unavailable',
    ],
    ['a slow origin', { kind: 'failed', code: 'origin_timeout' }, 'http_response_timeout'],
    ['a page it finds too large', { kind: 'failed', code: 'too_large' }, 'too_large'],
    ['a target it refuses', { kind: 'failed', code: 'refused' }, 'render_failed'],
    ['its own bug', { kind: 'failed', code: 'internal' }, 'render_failed'],
    ['nothing behind the mark', garbage(''), 'render_failed'],
    ['three bytes', garbage('abc'), 'render_failed'],
    ['HTML behind the mark', garbage('<!doctype html>'), 'render_failed'],
    ['a head longer than the answer', garbage(longHead), 'render_failed'],
    [
      'a page that is not UTF-8',
      { kind: 'page', html: new Uint8Array([0xff, 0xfe]) },
      'render_failed',
    ],
    ['a success without a page', page({}, ''), 'render_failed'],
    ['a partial one', page({ outcome: 'partial' }, ''), 'render_failed'],
    ['an error without a page', page({ status: 404 }, ''), '404'],
    ['a page with status 204', page({ status: 204 }), 'render_failed'],
    ['a page with status 0', page({ status: 0 }), 'render_failed'],
    [
      'a redirect with status 200',
      { kind: 'redirect', status: 200, location: '/x' },
      'render_failed',
    ],
    [
      'B9: a redirect with a line break',
      { kind: 'redirect', status: 301, location: '/a\r\nb' },
      'render_failed',
    ],
    [
      'B9: a redirect with a NUL',
      { kind: 'redirect', status: 301, location: '/a\0b' },
      'render_failed',
    ],
    ['a redirect to nowhere', { kind: 'redirect', status: 301, location: ' ' }, 'render_failed'],
    ['a header with a line break', page({ headers: [['x', 'a\r\nb: c']] }), 'render_failed'],
    ['a header name with a space', page({ headers: [['x y', 'a']] }), 'render_failed'],
    ['an answer in gzip', { kind: 'gzip', html: '<p>ok</p>' }, '200'],
    ['gzip by its old name', { kind: 'gzip', html: '<p>ok</p>', encoding: 'x-gzip' }, '200'],
    ['gzip that is not named', { kind: 'gzip', html: 'x', encoding: 'identity' }, 'render_failed'],
    ['gzip that is named br', { kind: 'gzip', html: 'x', encoding: 'br' }, 'render_failed'],
    ['a gzip bomb', { kind: 'gzip', html: 'a'.repeat(2_000_000) }, 'too_large'],
  ])('%s', async (_what, script, expected) => {
    service.script(PAGE_URL, script);
    expect(wordOf(await get())).toBe(expected);
    // Whatever came, it was asked for once: a broken render is not repeated.
    expect(service.requests).toHaveLength(1);
  });

  it('marks a page that was not ready as partial', async () => {
    service.script('*', page({ outcome: 'partial', pending_requests: ['https://slow.test/'] }));
    expect(pageOf(await get()).completeness).toBe('partial');
  });

  it('says UTF-8 for what it rendered, and drops what no longer fits the bytes', async () => {
    const headers = [
      ['Content-Type', 'text/html; charset=Shift_JIS'],
      ['Content-Encoding', 'gzip'],
      ['ETag', '"origin"'],
      ['Last-Modified', 'Wed, 21 Oct 2026 07:28:00 GMT'],
      ['Location', '/stray'],
      ['X-Kept', '1'],
    ] as const;
    service.script('*', page({ headers }));
    expect(pageOf(await get()).headers).toEqual([
      ['content-type', 'text/html; charset=utf-8'],
      ['X-Kept', '1'],
    ]);
  });

  it('B9: percent-encodes a Location', async () => {
    const location = 'https://site.test/ä?q=日本';
    service.script('*', { kind: 'redirect', status: 301, location });
    const result = pageOf(await get());
    expect(headerValues(result.headers, 'location')).toEqual([
      'https://site.test/%C3%A4?q=%E6%97%A5%E6%9C%AC',
    ]);
    expect(result.body).toHaveLength(0);
  });

  it('B8: never names the renderer', async () => {
    service.script('*', { kind: 'redirect', status: 301, location: `${service.url}/x` });
    expect(wordOf(await get())).toBe('render_failed');
    service.script('*', page({ headers: [['Link', `<${service.url}/x>; rel=next`]] }));
    expect(pageOf(await get()).headers).toHaveLength(1);
  });

  it('is refused with a wrong token, and that is no page', async () => {
    const stranger = createSource({ urls: [service.url], token: 'wrong' });
    expect(wordOf(await stranger.get(pageJob([]), noAbort()))).toBe('no_renderer');
    expect(service.requests).toHaveLength(0);
    await stranger.close();
  });

  it('is ready when a service is', async () => {
    expect((await source.check()).state).toBe('done');
    const name = new URL(service.url).host;
    expect(await source.renderers()).toEqual([{ name, isReady: true }]);
    service.setReady(false);
    expect((await source.check()).state).toBe('unavailable');
    expect(await source.renderers()).toEqual([{ name, isReady: false }]);
    await service.close();
    expect((await source.check()).state).toBe('unavailable');
  });

  it('reads an answer whose head is at its limit', async () => {
    const consoleErrors = Array.from({ length: 25 }, () => 'e'.repeat(10_000));
    service.script('*', page({ console_errors: consoleErrors }));
    expect(wordOf(await get())).toBe('200');
    service.script('*', page({ console_errors: [...consoleErrors, ...consoleErrors.slice(0, 2)] }));
    expect(wordOf(await get())).toBe('render_failed');
  });

  describe('several services', () => {
    let other: TestRenderService;
    let both: PageSource;
    let now = 0;
    beforeEach(async () => {
      now = 1_000_000;
      other = await startRenderService();
      const urls = [service.url, other.url];
      both = createSource({ urls, token: service.token, now: () => now });
    });
    afterEach(async () => {
      await both.close();
      await other.close();
    });
    const getBoth = (changes = {}) => both.get(pageJob([], changes), noAbort());
    const counts = () => [service.requests.length, other.requests.length];

    it('share the jobs', async () => {
      for (let i = 0; i < 10; i += 1) pageOf(await getBoth());
      expect(counts()).toEqual([5, 5]);
    });

    it('the least loaded is asked first', async () => {
      service.script('*', { kind: 'hang' });
      const controller = new AbortController();
      const hanging = [
        both.get(pageJob([]), controller.signal),
        both.get(pageJob([]), controller.signal),
      ];
      for (let i = 0; i < 8; i += 1) pageOf(await getBoth());
      expect(counts()).toEqual([1, 9]);
      controller.abort();
      await Promise.all(hanging);
    });

    it('a full one passes the job on, once', async () => {
      service.script('*', { kind: 'full' });
      for (let i = 0; i < 4; i += 1) pageOf(await getBoth());
      expect(other.requests).toHaveLength(4);
      other.script('*', { kind: 'full' });
      expect(wordOf(await getBoth())).toBe('renderer_full');
    });

    it.each([
      ['says so at once: for a moment each time', 0, Array.from({ length: 8 }, () => 500)],
      [
        'takes its time to say so: for twice as long each time',
        1_000,
        [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
      ],
    ])('one that is of no use is left out, and %s', async (_what, tookMs, expected) => {
      service.script('*', { kind: 'reset' });
      const slowed = createSource({
        urls: [service.url, other.url],
        token: service.token,
        now: () => now + tookMs * service.requests.length,
      });
      const outFor = async (): Promise<number> => {
        const before = service.requests.length;
        for (let waitedMs = 0; waitedMs <= 40_000; waitedMs += 250) {
          pageOf(await slowed.get(pageJob([]), noAbort()));
          pageOf(await slowed.get(pageJob([]), noAbort()));
          if (service.requests.length > before) return waitedMs;
          now += 250;
        }
        throw new Error('it never came back');
      };
      expect(await outFor()).toBe(0);
      const waits: number[] = [];
      for (let i = 0; i < 8; i += 1) waits.push(await outFor());
      expect(waits).toEqual(expected);
      await slowed.close();
    });

    it('none in service is an answer at once', async () => {
      service.script('*', { kind: 'reset' });
      other.script('*', { kind: 'reset' });
      expect(wordOf(await getBoth())).toBe('no_renderer');
      expect(wordOf(await getBoth())).toBe('no_renderer');
      expect(counts()).toEqual([1, 1]);
      now += 500;
      service.script('*', page({}));
      other.script('*', page({}));
      expect(wordOf(await getBoth())).toBe('200');
    });

    it('one that hangs is left out, one whose client left is not', async () => {
      service.script('*', { kind: 'hang' });
      other.script('*', { kind: 'hang' });
      const left = new AbortController();
      const abandoned = [both.get(pageJob([]), left.signal), both.get(pageJob([]), left.signal)];
      left.abort();
      await Promise.all(abandoned);
      const words = await Promise.all([
        getBoth({ renderChanges: { timeoutMs: 300 } }),
        getBoth({ renderChanges: { timeoutMs: 300 } }),
      ]);
      expect(words.map(wordOf)).toEqual(['render_timeout', 'render_timeout']);
      expect(wordOf(await getBoth())).toBe('no_renderer');
    });
  });
});

describe('page source off', () => {
  it('has no renderer and says so', async () => {
    const source = createOffSource();
    expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe('no_renderer');
    expect((await source.check()).state).toBe('done');
    await source.close();
  });
});
