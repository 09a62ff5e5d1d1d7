// What every page source keeps, whatever it gets its pages from: each adapter runs this suite
// against a real server of its own kind.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstHeader, headerValues } from '../../src/core/http/header-list.ts';
import type { PageJob, PageSource } from '../../src/pipeline/ports.ts';
import { noAbort, PAGE_URL, pageOf, wordOf } from './page-jobs.ts';

export interface ServedPage {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly html: string;
}

/** A source with a real server behind it. */
export interface PageSourceWorld {
  readonly source: PageSource;
  /** A job that reaches the server; `timeoutMs` is its deadline. */
  readonly job: (changes?: { headers?: PageJob['headers']; timeoutMs?: number }) => PageJob;
  readonly servePage: (page: ServedPage) => void;
  readonly serveRedirect: (status: number, location: string) => void;
  readonly serveHuge: (bytes: number) => void;
  readonly serve: (trouble: 'hang' | 'reset' | 'cut') => void;
  /** All the server was sent, as text. */
  readonly received: () => string;
  /** Requests the server got. */
  readonly requestCount: () => number;
  readonly stopServer: () => Promise<void>;
}

/** What the server's wire contract can say at all. */
export interface PageSourceTraits {
  /** Statuses of pages. */
  readonly statuses: readonly number[];
  readonly redirects: readonly number[];
  /** Whether a page's other headers come along. */
  readonly passesHeaders: boolean;
}

export const PAGE_BYTES_MAX = 100_000;

const ALL: PageSourceTraits = {
  statuses: [200, 404, 410, 500, 503],
  redirects: [301, 302, 303, 307, 308],
  passesHeaders: true,
};

const ORIGIN_WORDS = [
  'connection_refused',
  'connection_terminated',
  'destination_unavailable',
  'http_protocol_error',
  'http_response_incomplete',
  'http_response_timeout',
];
const SERVICE_WORDS = ['no_renderer', 'render_failed', 'render_timeout'];

export function describePageSource(
  name: string,
  start: () => Promise<PageSourceWorld>,
  { statuses, redirects, passesHeaders }: PageSourceTraits = ALL,
): void {
  describe(`page source contract: ${name}`, () => {
    let world: PageSourceWorld;
    beforeEach(async () => {
      world = await start();
    });
    afterEach(async () => {
      await world.source.close();
      await world.stopServer();
    });
    const get = (changes: { headers?: PageJob['headers']; timeoutMs?: number } = {}) =>
      world.source.get(world.job(changes), noAbort());
    const failureWords = name === 'origin' ? ORIGIN_WORDS : SERVICE_WORDS;

    it.each(statuses)('gives the page of a %i', async (status) => {
      const headers = [['Content-Type', 'text/html; charset=utf-8']] as const;
      world.servePage({ status, headers, html: '<p>Grüße</p>' });
      const page = pageOf(await get());
      expect(page.status).toBe(status);
      expect(page.body.toString('utf8')).toBe('<p>Grüße</p>');
      expect(page.completeness).toBe('complete');
      expect(firstHeader(page.headers, 'content-type')).toBe('text/html; charset=utf-8');
      expect(world.requestCount()).toBe(1);
    });

    it.each(redirects)('captures a %i and does not follow it', async (status) => {
      world.serveRedirect(status, '/next?b=2');
      const page = pageOf(await get());
      expect(page.status).toBe(status);
      expect(headerValues(page.headers, 'location')).toEqual(['/next?b=2']);
      expect(world.requestCount()).toBe(1);
    });

    it('keeps repeated fields apart and drops hop-by-hop ones', async () => {
      const repeats = passesHeaders ? 2 : 0;
      world.servePage({
        status: 200,
        headers: [
          ['Set-Cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
          ['Set-Cookie', 'b=2'],
          ['Link', '</a>; rel=preload'],
          ['Link', '</b>; rel=preload'],
          ['Connection', 'X-Hop, keep-alive'],
          ['X-Hop', '1'],
          ['Keep-Alive', 'timeout=5'],
          ['Proxy-Connection', 'x'],
          ['__proto__', 'x'],
        ],
        html: '<p>ok</p>',
      });
      const page = pageOf(await get());
      expect(headerValues(page.headers, 'set-cookie')).toHaveLength(repeats);
      expect(headerValues(page.headers, 'link')).toHaveLength(repeats);
      expect(headerValues(page.headers, '__proto__')).toEqual(passesHeaders ? ['x'] : []);
      const dropped = ['connection', 'x-hop', 'keep-alive', 'proxy-connection', 'content-length'];
      for (const hop of [...dropped, 'transfer-encoding']) {
        expect(headerValues(page.headers, hop)).toEqual([]);
      }
    });

    it('sends nothing of a person, and no condition', async () => {
      const headers = [
        ['Cookie', 'sid=secret-1'],
        ['Authorization', 'Basic secret-2'],
        ['If-None-Match', '"secret-3"'],
        ['Range', 'bytes=0-0'],
        ['Proxy-Authorization', 'secret-4'],
        ['X-Forwarded-For', 'secret-5'],
        ['X-Original-URL', '/secret-6'],
        ['Transfer-Encoding', 'chunked'],
        ['Expect', '100-continue'],
        ['X-Country', 'de'],
      ] as const;
      pageOf(await get({ headers }));
      expect(world.received()).toContain('X-Country');
      expect(world.received()).not.toMatch(/secret|bytes=0-0|100-continue/i);
    });

    it('asks for exactly the normalized URL', async () => {
      pageOf(await get());
      expect(world.received()).toContain(new URL(PAGE_URL).search);
    });

    it('refuses a page over the limit', async () => {
      world.serveHuge(PAGE_BYTES_MAX + 1);
      expect(wordOf(await get())).toBe('too_large');
      world.serveHuge(PAGE_BYTES_MAX);
      expect(wordOf(await get())).toBe('200');
    });

    it.each(['reset', 'cut'] as const)(
      'answers with a failure when the server does: %s',
      async (trouble) => {
        world.serve(trouble);
        expect(failureWords).toContain(wordOf(await get()));
      },
    );

    it('answers at its deadline when the server hangs', async () => {
      world.serve('hang');
      const startedAt = performance.now();
      expect(wordOf(await get({ timeoutMs: 300 }))).toMatch(/_timeout$/);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    });

    it('ends at once when the caller gives up', async () => {
      world.serve('hang');
      const controller = new AbortController();
      const pending = world.source.get(world.job(), controller.signal);
      controller.abort();
      expect(wordOf(await pending)).toMatch(/_timeout$/);
    });

    it('answers with a failure when there is no server', async () => {
      await world.stopServer();
      expect(failureWords).toContain(wordOf(await get()));
    });

    it('answers with a failure after it was closed', async () => {
      await world.source.close();
      expect(failureWords).toContain(wordOf(await get()));
    });
  });
}
