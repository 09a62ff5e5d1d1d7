// The trouble table, renderer and pages: what a crawler gets when the page can't be had. Stale
// first; else the origin's page, uncached, or 503 where the configuration says so.
import { describe, expect, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import type { RenderScript } from '../helpers/render-service.ts';
import { askedFor, page, type Stage, setStage } from './stage.ts';

const GARBAGE = new Uint8Array([1, 2, 3]);
const HOUR_MS = 3_600_000;

type Break = (stage: Stage) => unknown;
const script =
  (value: RenderScript): Break =>
  ({ renderer }) =>
    renderer.script('*', value);

const TROUBLES: readonly (readonly [string, Break, string])[] = [
  ['gone', ({ renderer }) => renderer.close(), 'no_renderer'],
  ['full', script({ kind: 'full' }), 'renderer_full'],
  ['too slow', script({ kind: 'hang' }), 'render_timeout'],
  ['too slow by its own word', script({ kind: 'failed', code: 'timeout' }), 'render_timeout'],
  ['crashed', script({ kind: 'failed', code: 'crashed' }), 'render_failed'],
  ['reset', script({ kind: 'reset' }), 'no_renderer'],
  ['cut short', script({ kind: 'cut' }), 'render_failed'],
  ['talking nonsense', script({ kind: 'garbage', bytes: GARBAGE }), 'render_failed'],
  ['locked', script({ kind: 'foreign', status: 401, body: 'no' }), 'no_renderer'],
];

const setUp = (onError: string): Promise<Stage> =>
  setStage({
    engine: 'service',
    hasTestClock: true,
    render: 'timeout: 400ms\nsoft_timeout: 200ms\ncache: {jitter: 0}',
    gateway: `on_render_error: ${onError}\n`,
    origin: () => page('from the origin'),
  });

describe('C2: the renderer is', () => {
  test.each(TROUBLES)('%s: the origin’s page, uncached', async (_what, breakIt, reason) => {
    const site = await setUp('stale_then_origin');
    await breakIt(site);
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/page');
      expect([reply.status, reply.body]).toEqual([200, 'from the origin']);
      expect(reply.header('X-Render-Source')).toBe('bypass');
      expect(reply.header('Cache-Status')).toMatch(new RegExp(`fwd=uri-miss;.*detail=${reason}`));
    }
    const failures = site.gateway.log.filter(({ msg }) => msg === 'page failed');
    expect(failures).toMatchObject([{ detail: reason, url: 'https://site.test/page' }]);
  });

  test.each(TROUBLES)('%s: 503 where that was asked for', async (_what, breakIt, reason) => {
    const site = await setUp('"503"');
    await breakIt(site);
    const reply = await site.ask('/page');
    expect([reply.status, reply.header('Cache-Control')]).toEqual([503, 'private, no-store']);
    expect(Number(reply.header('Retry-After'))).toBeGreaterThan(0);
    expect(reply.header('Proxy-Status')).toContain(`details="${reason}"`);
    expect(reply.head + reply.body).not.toContain('127.0.0.1');
    expect(askedFor(site.origin)).toEqual([]);
  });

  test.each(TROUBLES)('%s: the stale page, whatever was asked for', async (_what, breakIt) => {
    const site = await setUp('"503"');
    site.renderer.script('*', { kind: 'page', html: 'rendered' });
    await site.ask('/page');
    await breakIt(site);
    site.clock.advance(2 * HOUR_MS);
    for (let round = 1; round <= 3; round += 1) {
      const reply = await site.ask('/page');
      expect([reply.status, reply.body]).toEqual([200, 'rendered']);
      expect(reply.header('X-Render-Cache')).toBe('stale');
    }
    expect(askedFor(site.origin)).toEqual([]);
  });
});

test('C3: a page that always fails is rendered once a back-off window', async () => {
  const site = await setUp('stale_then_origin');
  site.renderer.script('*', { kind: 'failed', code: 'timeout' });
  const burst = async (): Promise<number> => {
    const before = site.renderer.requests.length;
    const replies = await mapParallel(10, Array.from({ length: 50 }), () => site.ask('/page'));
    expect(replies.every(({ body }) => body === 'from the origin')).toBe(true);
    return site.renderer.requests.length - before;
  };
  expect(await burst()).toBe(1);
  expect(await burst()).toBe(0);
  // 1 s, 2 s, 4 s …: a window that is over lets one render through and doubles.
  for (const windowMs of [1_000, 2_000, 4_000, 8_000]) {
    site.clock.advance(windowMs - 1);
    expect(await burst()).toBe(0);
    site.clock.advance(1);
    expect(await burst()).toBe(1);
  }
  site.clock.advance(HOUR_MS);
  site.renderer.script('*', { kind: 'page', html: 'at last' });
  expect((await site.ask('/page')).body).toBe('at last');
  expect((await site.ask('/page')).header('X-Render-Cache')).toBe('hit');
});

describe('the page itself says', () => {
  const failing = (status: number): RenderScript => ({
    kind: 'page',
    html: `trouble ${status}`,
    head: { status, headers: [['content-type', 'text/plain']] },
  });

  test.each([500, 502, 503, 504])(
    '%s: that status, remembered for a short while',
    async (status) => {
      const site = await setUp('stale_then_origin');
      site.renderer.script('*', failing(status));
      const first = await site.ask('/page');
      expect([first.status, first.body]).toEqual([status, `trouble ${status}`]);
      const second = await site.ask('/page');
      expect([second.status, second.header('X-Render-Cache')]).toEqual([status, 'hit']);
      expect(site.renderer.requests.length).toBe(1);
      site.clock.advance(11_000);
      site.renderer.script('*', { kind: 'page', html: 'well again' });
      const third = await site.ask('/page');
      expect([third.status, third.body]).toEqual([200, 'well again']);
    },
  );

  test('503 while there is a good page: the good one, which stays in its place', async () => {
    const site = await setUp('stale_then_origin');
    site.renderer.script('*', { kind: 'page', html: 'good' });
    await site.ask('/page');
    site.renderer.script('*', failing(503));
    site.clock.advance(HOUR_MS + 1);
    for (let round = 1; round <= 5; round += 1) {
      const reply = await site.ask('/page');
      expect([reply.status, reply.body]).toEqual([200, 'good']);
      expect(reply.header('X-Render-Cache')).toBe('stale');
      site.clock.advance(60_000);
    }
    expect(site.renderer.requests.length).toBeGreaterThan(2);
    // Past its last day the trouble is told as it is.
    site.clock.advance(24 * HOUR_MS);
    expect((await site.ask('/page')).status).toBe(503);
  });

  test('503 with a cookie, which may not be shared: still not rendered for each', async () => {
    const site = await setUp('stale_then_origin');
    const headers = [['set-cookie', 'sid=1']] as const;
    site.renderer.script('*', { kind: 'page', html: 'sorry', head: { status: 503, headers } });
    await mapParallel(10, Array.from({ length: 30 }), () => site.ask('/page'));
    expect(site.renderer.requests.length).toBe(1);
  });
});
