// Which pages are rendered for whom: link previews wait a little, files are never rendered. Cases
// G1 and G2.
import { describe, expect, test } from 'vitest';
import { valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, askedFor, page, setStage } from '../scenario/stage.ts';
import { GOOGLEBOT } from './bot-parts.ts';

const TWITTER = 'Twitterbot/1.0';
const XML = answer(200, '<urlset/>', 'Content-Type: application/xml');

/** A site whose pages for crawlers are ready when told. */
async function setSlowStage(gateway = '', render = '') {
  let release = (): void => undefined;
  let isReady = false;
  const stage = await setStage({
    hasTestClock: true,
    gateway,
    render,
    origin: (request, socket) => {
      const isFill = (valuesOf(request, 'user-agent')[0] ?? '').endsWith('edge-gateway');
      if (!isFill || isReady) return page(isFill ? 'rendered' : 'raw');
      release = () => {
        isReady = true;
        socket.write(page('rendered'), 'latin1');
      };
      return null;
    },
  });
  const isFilled = async (target: string): Promise<void> => {
    const source = async () => (await stage.ask(target)).header('x-render-source');
    await waitUntil(`${target} is stored`, async () => (await source()) === 'cache');
  };
  return { ...stage, release: () => release(), hold: () => (isReady = false), isFilled };
}

describe('a link preview', () => {
  test('waits a little for a cold page, then takes the origin’s, and the page is stored', async () => {
    const stage = await setSlowStage('bots: {preview_wait: 100ms}\n');
    const reply = await stage.ask('/cold', { userAgent: TWITTER });
    expect(reply.body).toBe('raw');
    expect(reply.header('cache-status')).toMatch(/fwd=uri-miss.*detail=preview_wait/);
    expect(reply.durationMs).toBeGreaterThanOrEqual(100);
    stage.release();
    await stage.isFilled('/cold');
    expect((await stage.ask('/cold', { userAgent: TWITTER })).body).toBe('rendered');
  });

  test('gets the page itself when that is ready in time', async () => {
    const stage = await setSlowStage('bots: {preview_wait: 20s}\n');
    const reply = stage.ask('/warm', { userAgent: TWITTER });
    await waitUntil('the fill', () => stage.origin.requests.length === 1);
    stage.release();
    expect((await reply).body).toBe('rendered');
  });

  test('with no patience at all still starts the render', async () => {
    const stage = await setSlowStage('bots: {preview_wait: 0}\n');
    expect((await stage.ask('/now', { userAgent: TWITTER })).body).toBe('raw');
    stage.release();
    await stage.isFilled('/now');
  });

  test('does not hurry a search engine that waits for the same page', async () => {
    const stage = await setSlowStage('bots: {preview_wait: 100ms}\n');
    const search = stage.ask('/both', { userAgent: GOOGLEBOT });
    await waitUntil('the fill', () => stage.origin.requests.length === 1);
    expect((await stage.ask('/both', { userAgent: TWITTER })).body).toBe('raw');
    stage.release();
    expect((await search).body).toBe('rendered');
    const fills = stage.origin.requests.filter((request) =>
      valuesOf(request, 'user-agent')[0]?.endsWith('edge-gateway'),
    );
    expect(fills).toHaveLength(1);
  });

  test('gets a stale page at once, and shares the entry of the desktop crawlers', async () => {
    const stage = await setSlowStage(
      'bots: {preview_wait: 20s}\n',
      'cache: {ttl: 1m, jitter: 0}\n',
    );
    const first = stage.ask('/old', { userAgent: GOOGLEBOT });
    await waitUntil('the fill', () => stage.origin.requests.length === 1);
    stage.release();
    await first;
    stage.hold();
    stage.clock.advance(120_000);
    const reply = await stage.ask('/old', { userAgent: TWITTER });
    expect([reply.body, reply.header('x-render-cache')]).toEqual(['rendered', 'stale']);
    stage.release();
  });
});

describe.each(['origin', 'service'] as const)('engine %s', (engine) => {
  test('G1, G2: files are never rendered', async () => {
    const stage = await setStage({ engine, origin: () => XML });
    const files = [
      '/sitemap.xml',
      '/robots.txt',
      '/feed.rss',
      '/feed.atom',
      '/a.woff2?x=1',
      '/app.JS',
      '/img/a.b.png',
    ];
    for (const file of files) {
      const reply = await stage.ask(file);
      expect([file, reply.body, reply.header('x-render-source')]).toEqual([
        file,
        '<urlset/>',
        'bypass',
      ]);
    }
    expect(stage.renderer.requests).toEqual([]);
  });

  test('G2: a dot elsewhere names no file', async () => {
    const stage = await setStage({ engine, origin: () => page('a page') });
    for (const target of ['/blog/node.js-in-2026', '/about.ai/team', '/v1.2', '/x?file=a.pdf']) {
      expect([target, (await stage.ask(target)).header('x-render-source')]).toEqual([
        target,
        'rendered',
      ]);
    }
  });

  test('G1: without a suffix the origin’s type decides, and is remembered', async () => {
    const stage = await setStage({ engine, origin: () => XML });
    const head = { headers: [['content-type', 'application/xml']] as const };
    stage.renderer.script('https://site.test/sitemap', {
      kind: 'page',
      html: '<html>viewer</html>',
      head,
    });
    const first = await stage.ask('/sitemap');
    expect([first.body, first.header('content-type')]).toEqual(['<urlset/>', 'application/xml']);
    const second = await stage.ask('/sitemap');
    expect([second.body, second.header('x-render-source')]).toEqual(['<urlset/>', 'bypass']);
    const asked =
      engine === 'service' ? stage.renderer.requests.length : askedFor(stage.origin).length;
    expect(asked).toBe(engine === 'service' ? 1 : 2);
  });

  test('a rule for everything renders no file; one that names the suffix does', async () => {
    const rules =
      'url_rules:\n  - {match: "/*", action: render}\n  - {match: "/docs/*.xml", action: render}\n';
    const stage = await setStage({ engine, host: rules, origin: () => page('a page') });
    expect((await stage.ask('/robots.txt')).header('x-render-source')).toBe('bypass');
    expect((await stage.ask('/a/sitemap.xml')).header('x-render-source')).toBe('bypass');
    expect((await stage.ask('/page')).header('x-render-source')).toBe('rendered');
    expect((await stage.ask('/docs/a.xml')).header('x-render-source')).toBe('rendered');
  });
});
