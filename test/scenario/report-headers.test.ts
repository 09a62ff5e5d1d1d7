// Group E of the public reports: cookies, credentials, validators and forwarding headers. E4 needs
// HTTP/2 and is in tls.test.ts.
import { describe, expect, test } from 'vitest';
import { type RawRequest, valuesOf } from '../helpers/raw-origin.ts';
import { answer, askedFor, BOT, HUMAN, page, setStage } from './stage.ts';

const SECRETS = ['Cookie: sid=1', 'X-Api-Key: k', 'Proxy-Authorization: Basic x'];

describe('E1: Set-Cookie of a page', () => {
  const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'];
  test.each(['service', 'origin'] as const)('is never replayed (%s)', async (engine) => {
    const lines = cookies.map((cookie) => `Set-Cookie: ${cookie}`);
    const site = await setStage({ engine, origin: () => page('page', ...lines) });
    const headers = cookies.map((cookie) => ['set-cookie', cookie] as const);
    site.renderer.script('*', { kind: 'page', html: 'page', head: { headers } });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/');
      expect([reply.status, reply.body]).toEqual([200, 'page']);
      expect(reply.header('X-Render-Cache')).toBe('new');
      expect(reply.header('Cache-Status')).toContain('detail=set_cookie');
    }
    const pages = engine === 'service' ? site.renderer.requests : site.origin.requests;
    expect(pages.length).toBe(2);
  });
});

test('E2: repeated headers stay apart and in order on the way to a person', async () => {
  const lines = [
    'Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
    'Set-Cookie: b=2',
    'Set-Cookie: c=3',
    'Link: <a>; rel=x, <b>',
    'Link: <c>',
    'Vary: Accept',
    'Vary: Cookie',
    'WWW-Authenticate: Basic realm="a, b"',
    'WWW-Authenticate: Digest',
  ];
  const site = await setStage({ origin: () => answer(401, '', ...lines) });
  const reply = await site.ask('/', { userAgent: HUMAN });
  const received = reply.head.split('\r\n').filter((line) => lines.includes(line));
  expect(received).toEqual(lines);
});

describe('E5: what belongs to a visitor', () => {
  test.each(['service', 'origin'] as const)('is no part of a fill (%s)', async (engine) => {
    const site = await setStage({
      engine,
      gateway: 'headers: {safe_request: [Accept-Language]}\n',
    });
    const reply = await site.ask('/', { headers: [...SECRETS, 'Accept-Language: de'] });
    expect([reply.status, reply.header('X-Render-Cache')]).toEqual([200, 'new']);
    const sent =
      engine === 'service'
        ? JSON.stringify(site.renderer.requests[0]?.headers)
        : (site.origin.requests[0]?.head ?? '');
    expect(sent).toMatch(/accept-language/i);
    expect(sent).not.toMatch(/cookie|sid=1|api-key|authorization/i);
  });

  test('Authorization: the request is proxied, whatever the cache has', async () => {
    const site = await setStage({ engine: 'service', origin: () => page('for you') });
    await site.ask('/');
    const reply = await site.ask('/', { headers: ['Authorization: Basic x', 'Cookie: sid=1'] });
    expect([reply.body, reply.header('X-Render-Source')]).toEqual(['for you', 'bypass']);
    const [request] = site.origin.requests;
    expect(valuesOf(request, 'authorization')).toEqual(['Basic x']);
    expect(valuesOf(request, 'cookie')).toEqual(['sid=1']);
    expect((await site.ask('/')).header('X-Render-Cache')).toBe('hit');
  });
});

describe('E6: a page that is not for everyone', () => {
  const rows = [
    ['Cache-Control: private', 'private'],
    ['Cache-Control: private="Set-Cookie"', 'private'],
    ['Cache-Control: max-age=60, NO-STORE', 'no_store'],
    ['CDN-Cache-Control: no-store', 'no_store'],
    ['Vary: *', 'vary'],
    ['Vary: Accept-Encoding, Cookie', 'vary'],
  ] as const;
  for (const engine of ['service', 'origin'] as const) {
    test.each(rows)(`%s (${engine})`, async (line, reason) => {
      const site = await setStage({ engine, origin: () => page('mine', line) });
      const [name = '', value = ''] = line.split(': ');
      const headers = [[name, value]] as const;
      site.renderer.script('*', { kind: 'page', html: 'mine', head: { headers } });
      for (let round = 1; round <= 2; round += 1) {
        const reply = await site.ask('/');
        expect(reply.header('X-Render-Cache')).toBe('new');
        expect(reply.header('Cache-Status')).toContain(`detail=${reason}`);
        expect(reply.header('Cache-Control')).toBe('private, no-store');
      }
    });
  }
});

describe('E8: validators of the origin', () => {
  const lines = ['ETag: "origin"', 'Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT'];
  test.each(['service', 'origin'] as const)('are not those of our bytes (%s)', async (engine) => {
    const site = await setStage({ engine, origin: () => page('bytes', ...lines) });
    const headers = lines.map((line) => line.split(': ') as [string, string]);
    site.renderer.script('*', { kind: 'page', html: 'bytes', head: { headers } });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/');
      expect(reply.headers('ETag')).toEqual([expect.stringMatching(/^W\/"[0-9a-f]{16}"$/)]);
      expect(reply.header('Last-Modified')).not.toContain('2024');
    }
    const stale = await site.ask('/', { headers: ['If-None-Match: "origin"'] });
    expect(stale.status).toBe(200);
  });
});

describe('E9: who a request comes from', () => {
  const claims = [
    'X-Forwarded-For: 203.0.113.9',
    'X-Forwarded-For: 198.51.100.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: evil.test',
    'Forwarded: for=203.0.113.9;host=evil.test',
  ];
  const names = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'];
  const seen = (request: RawRequest | undefined): unknown =>
    names.map((name) => valuesOf(request, name));

  test('is what we see, for a stranger', async () => {
    const site = await setStage();
    await site.ask('/', { userAgent: HUMAN, headers: claims });
    expect(seen(site.origin.requests[0])).toEqual([['127.0.0.1'], ['https'], ['site.test'], []]);
  });

  test('is continued for a trusted proxy, but not the host', async () => {
    const site = await setStage({ gateway: 'server:\n  trusted_proxies: [127.0.0.1]\n' });
    await site.ask('/', { userAgent: HUMAN, headers: claims });
    expect(seen(site.origin.requests[0])).toEqual([
      ['203.0.113.9, 198.51.100.1, 127.0.0.1'],
      ['http'],
      ['site.test'],
      [],
    ]);
  });

  test('is nothing a page may depend on', async () => {
    const site = await setStage();
    const reply = await site.ask('/', { headers: claims });
    expect(reply.header('X-Processed-URL')).toBe('https://site.test/');
    expect(site.origin.requests[0]?.head).not.toMatch(/evil|203\.0/);
  });
});

describe('E10: headers that are too large', () => {
  test.each([HUMAN, BOT])('of a client: 431', async (userAgent) => {
    const site = await setStage();
    const reply = await site.ask('/', { userAgent, headers: [`X-Big: ${'a'.repeat(20_000)}`] });
    expect([reply.status, askedFor(site.origin)]).toEqual([431, []]);
    expect((await site.ask('/', { userAgent })).status).toBe(200);
  });

  test.each([HUMAN, BOT])('of an origin: 502 with a reason', async (userAgent) => {
    const site = await setStage({ origin: () => page('x', `X-Big: ${'a'.repeat(70_000)}`) });
    const reply = await site.ask('/', { userAgent });
    expect(reply.status).toBe(502);
    expect(reply.header('Proxy-Status')).toMatch(/error=http_(protocol_error|response_header)/);
  });
});
