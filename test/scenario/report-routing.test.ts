// Group G of the public reports: what is a page, and who is a crawler.
import { describe, expect, test } from 'vitest';
import { answer, askedFor, HUMAN, page, setStage } from './stage.ts';

const SITEMAP = '<?xml version="1.0"?><urlset/>';

describe('G1: what is not HTML', () => {
  test('is not rendered when its name says so', async () => {
    const site = await setStage({
      engine: 'service',
      origin: () => answer(200, SITEMAP, 'Content-Type: application/xml'),
    });
    for (const target of ['/sitemap.xml', '/feed.rss', '/robots.txt', '/a/feed.ATOM?x=1']) {
      const reply = await site.ask(target);
      expect([reply.body, reply.header('Content-Type')]).toEqual([SITEMAP, 'application/xml']);
      expect(reply.header('X-Render-Source')).toBe('bypass');
    }
    expect(site.renderer.requests).toEqual([]);
  });

  test.each(['service', 'origin'] as const)(
    'is known by its type where its name says nothing, and that is remembered (%s)',
    async (engine) => {
      const site = await setStage({
        engine,
        origin: () => answer(200, SITEMAP, 'Content-Type: application/xml'),
      });
      const headers = [['content-type', 'application/xml']] as const;
      site.renderer.script('*', { kind: 'page', html: '<pre>xml</pre>', head: { headers } });
      const replies = [await site.ask('/sitemap'), await site.ask('/sitemap')];
      for (const reply of replies) {
        expect([reply.body, reply.header('Content-Type')]).toEqual([SITEMAP, 'application/xml']);
      }
      expect(replies[1]?.header('Cache-Status')).toMatch(/fwd=bypass;.*detail=not_html/);
      if (engine === 'service') expect(site.renderer.requests.length).toBe(1);
      else expect(site.origin.requests.length).toBe(2);
    },
  );
});

describe('G2: only the suffix of the last segment counts', () => {
  const rows = [
    ['/blog/node.js-in-2026', 'rendered'],
    ['/about.ai/team', 'rendered'],
    ['/v1.2', 'rendered'],
    ['/x?file=a.pdf', 'rendered'],
    ['/a.woff2?x=1', 'bypass'],
    ['/a.PDF', 'bypass'],
    ['/style.css', 'bypass'],
  ] as const;
  test.each(rows)('%s: %s', async (target, source) => {
    const site = await setStage({ engine: 'service' });
    expect((await site.ask(target)).header('X-Render-Source')).toBe(source);
  });
});

describe('G4, G5: who is a crawler', () => {
  const rows = [
    ['Googlebot/2.1', true],
    ['googlebot/3.0', true],
    ['Mozilla/5.0 (compatible; GOOGLEBOT/2.1; +http://www.google.com/bot.html)', true],
    ['Googlebot', true],
    ['MyGooglebot/2.1', false],
    ['Googlebotany/1.0', false],
    ['Google-Extended', false],
    ['Applebot-Extended/0.1', false],
    [HUMAN, false],
    ['', false],
  ] as const;
  test.each(rows)('%s: %s', async (userAgent, isCrawler) => {
    const site = await setStage({ engine: 'service', origin: () => page('the origin') });
    const reply = await site.ask('/', { userAgent });
    expect(reply.header('X-Render-Source')).toBe(isCrawler ? 'rendered' : 'bypass');
    expect(reply.header('X-Unmatched-Dimension')).toBe(isCrawler ? null : 'true');
    expect(askedFor(site.origin)).toEqual(isCrawler ? [] : ['GET /']);
  });
});
