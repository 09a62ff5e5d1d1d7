// Group B of the public reports: redirects, schemes and what may end in a loop.
import { describe, expect, test } from 'vitest';
import { valuesOf } from '../helpers/raw-origin.ts';
import { answer, askedFor, BOT, HUMAN, page, setStage } from './stage.ts';

const URL_BASE = 'https://site.test';

test('B1: an origin that insists on https is not sent in circles', async () => {
  const site = await setStage({
    origin: (request) =>
      valuesOf(request, 'x-forwarded-proto').join() === 'https'
        ? page('secure')
        : answer(301, '', `Location: https://site.test${request.target}`),
  });
  for (const userAgent of [BOT, HUMAN]) {
    for (const headers of [[], ['X-Forwarded-Proto: http'], ['X-Forwarded-Ssl: off']]) {
      const reply = await site.ask('/login', { userAgent, headers });
      expect([reply.status, reply.body]).toEqual([200, 'secure']);
    }
  }
});

describe('B1: a redirect to the page’s own key', () => {
  const targets = ['https://site.test/loop', '/loop', 'http://site.test/loop?utm_source=x'];
  test.each(targets)('%s is passed on and never stored', async (location) => {
    const site = await setStage({ origin: () => answer(301, '', `Location: ${location}`) });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/loop');
      expect(reply.status).toBe(301);
      expect(reply.header('Cache-Status')).toContain('detail=self_redirect');
    }
    // Once as a fill, then as it came.
    expect(site.origin.requests.length).toBe(3);
  });
});

describe('B2: X-Forwarded-Proto', () => {
  const trusted = 'server:\n  trusted_proxies: [127.0.0.1/32]\n';
  const rows = [
    ['from a stranger', '', ['http'], 'https'],
    ['list of a trusted proxy', trusted, ['https, http'], 'https'],
    ['list of a trusted proxy', trusted, ['http, https'], 'http'],
    ['no scheme at all', trusted, ['javascript'], 'https'],
    ['after nonsense', trusted, ['httpss, http'], 'http'],
    ['twice', trusted, ['http', 'https'], 'http'],
    ['empty', trusted, [''], 'https'],
  ] as const;
  test.each(rows)('%s (%#)', async (_what, gateway, values, expected) => {
    const site = await setStage({ gateway });
    const headers = values.map((value) => `X-Forwarded-Proto: ${value}`);
    const reply = await site.ask('/', { userAgent: HUMAN, headers });
    expect(reply.status).toBe(200);
    expect(valuesOf(site.origin.requests[0], 'x-forwarded-proto')).toEqual([expected]);
    const crawled = await site.ask('/', { headers });
    expect(crawled.header('X-Processed-URL')).toBe('https://site.test/');
    expect(valuesOf(site.origin.requests[1], 'x-forwarded-proto')).toEqual(['https']);
  });
});

describe('B4, B5, B6: a redirect of the page', () => {
  const locations = ['/new', 'https://site.test/new', 'https://other.test/x?a=1', '../up'];
  test.each(locations)('to %s is answered, stored, and never followed', async (location) => {
    const site = await setStage({ engine: 'service' });
    site.renderer.script(`${URL_BASE}/old`, { kind: 'redirect', status: 301, location });
    const first = await site.ask('/old');
    site.renderer.script('*', { kind: 'reset' });
    site.renderer.script(`${URL_BASE}/old`, { kind: 'reset' });
    const second = await site.ask('/old');
    for (const reply of [first, second]) {
      expect([reply.status, reply.header('Location')]).toEqual([301, location]);
      expect(reply.body).toBe('');
    }
    expect(second.header('X-Render-Cache')).toBe('hit');
    expect(site.renderer.requests.map(({ url }) => url)).toEqual([`${URL_BASE}/old`]);
    expect(askedFor(site.origin)).toEqual([]);
  });
});

describe('B8: the renderer’s own address', () => {
  test('is in no header of any answer', async () => {
    const site = await setStage({ engine: 'service' });
    const inner = site.renderer.url;
    site.renderer.script('*', {
      kind: 'page',
      html: 'page',
      head: {
        headers: [
          ['Link', `<${inner}/render>; rel=canonical`],
          ['X-Robots-Tag', 'all'],
        ],
      },
    });
    const reply = await site.ask('/a');
    expect(reply.header('X-Robots-Tag')).toBe('all');
    expect(reply.head).not.toContain(new URL(inner).host);
    site.renderer.script('*', { kind: 'redirect', status: 302, location: `${inner}/render` });
    const redirect = await site.ask('/b');
    expect(redirect.head).not.toContain(new URL(inner).host);
    expect(redirect.header('X-Render-Source')).toBe('bypass');
  });
});

describe('B9: a Location', () => {
  test('is percent-encoded where it is not ASCII', async () => {
    const site = await setStage({ engine: 'service' });
    const location = 'https://site.test/\u00e4 \u{1f600}';
    site.renderer.script('*', { kind: 'redirect', status: 301, location });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/umlaut');
      const encoded = 'https://site.test/%C3%A4%20%F0%9F%98%80';
      expect([reply.status, reply.header('Location')]).toEqual([301, encoded]);
    }
  });

  test.each(['\r\nSet-Cookie: a=b', '\n', '\0'])('with %j is no page of ours', async (bytes) => {
    const site = await setStage({ engine: 'service', origin: () => page('the origin’s') });
    const location = `https://site.test/x${bytes}`;
    site.renderer.script('*', { kind: 'redirect', status: 301, location });
    const reply = await site.ask('/split');
    expect([reply.status, reply.header('Set-Cookie')]).toEqual([200, null]);
    expect(reply.header('X-Render-Source')).toBe('bypass');
  });
});

describe('B10: a status', () => {
  test.each([404, 410])('%s of the page is the answer, not a missing renderer', async (status) => {
    const site = await setStage({ engine: 'service' });
    site.renderer.script('*', { kind: 'page', html: 'gone', head: { status } });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/missing');
      expect([reply.status, reply.body]).toEqual([status, 'gone']);
    }
    expect([site.renderer.requests.length, askedFor(site.origin)]).toEqual([1, []]);
  });

  test.each([401, 403, 404, 429, 500, 503])(
    '%s of the service itself is our trouble (C8)',
    async (status) => {
      const site = await setStage({ engine: 'service', origin: () => page('from the origin') });
      site.renderer.script('*', { kind: 'foreign', status, body: 'over quota' });
      const reply = await site.ask('/page');
      expect([reply.status, reply.body]).toEqual([200, 'from the origin']);
      expect(reply.header('X-Render-Source')).toBe('bypass');
    },
  );
});
