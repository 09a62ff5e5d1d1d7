// The demo site has what it says, so that whoever tests the gateway with it can rely on that.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type DemoSite, startDemoSite } from './site.ts';

let site: DemoSite;

beforeAll(async () => {
  site = await startDemoSite();
});

afterAll(() => site.close());

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${site.url}${path}`, { redirect: 'manual', ...init });
}

async function readText(path: string, init?: RequestInit): Promise<string> {
  return await (await ask(path, init)).text();
}

describe('one answer an address', () => {
  test.each([
    // path, status, header, its value, words of the body
    ['/', 200, 'content-type', 'text/html; charset=utf-8', 'rel="canonical"'],
    ['/%C3%BCber-uns', 200, 'content-type', 'text/html; charset=utf-8', '茶'],
    ['/products', 200, 'cache-control', 'public, max-age=60', 'utm_source=list'],
    ['/products?color=red&size=m&sort=price', 200, 'vary', null, 'Teapot, red, M'],
    ['/products?page=6', 200, 'vary', null, 'page 6 of 6'],
    ['/products?page=7', 404, 'cache-control', null, 'No such page'],
    ['/products/teapot-blue-m', 200, 'vary', null, '"@type":"Product"'],
    ['/products/uber-mug-red-s', 200, 'vary', null, 'Über-Mug'],
    ['/products/spoon', 404, 'vary', null, 'No such product'],
    ['/blog', 200, 'vary', null, 'mc_cid=demo'],
    ['/blog/cups', 200, 'last-modified', 'Mon, 05 Jan 2026 00:00:00 GMT', 'Cups &lt; bowls?'],
    ['/blog/none', 404, 'vary', null, 'No such story'],
    ['/app', 200, 'vary', null, '<div id="app"></div>'],
    ['/app/deep/link', 200, 'vary', null, '/assets/app.js'],
    ['/assets/app.js', 200, 'content-type', 'text/javascript; charset=utf-8', '/api/products'],
    ['/assets/site.css', 200, 'cache-control', 'public, max-age=31536000, immutable', 'nav'],
    ['/assets/logo.png', 200, 'content-type', 'image/png', 'PNG'],
    ['/api/products', 200, 'content-type', 'application/json', 'teapot-blue-s'],
    ['/feed.xml', 200, 'content-type', 'application/atom+xml', '<entry>'],
    ['/sitemap.xml', 200, 'content-type', 'application/xml', '/products/tray-white-l</loc>'],
    ['/robots.txt', 200, 'content-type', 'text/plain; charset=utf-8', 'Disallow: /account'],
    ['/redirect/301', 301, 'location', '../products', ''],
    ['/redirect/302', 302, 'location', '/products?page=2&utm_source=redirect', ''],
    ['/redirect/999', 404, 'location', null, 'No such redirect'],
    ['/error/500', 500, 'retry-after', null, 'Error 500'],
    ['/error/503', 503, 'retry-after', '120', 'Error 503'],
    ['/error/200', 404, 'retry-after', null, 'No such error'],
    ['/gone', 410, 'location', null, 'gone'],
    ['/nothing', 404, 'location', null, 'Nothing here'],
    ['/account', 200, 'cache-control', 'private, max-age=60', 'Guest'],
    ['/vary/language', 200, 'vary', 'Accept-Language', ''],
    ['/vary/device', 200, 'vary', 'User-Agent', 'Large screen'],
    ['/vary/any', 200, 'vary', '*', 'Never the same'],
    ['/slow?ms=1', 200, 'content-type', 'text/html; charset=utf-8', '1 ms'],
    ['/ws', 404, 'upgrade', null, 'Nothing here'],
  ])('%s → %i', async (path, status, header, value, words) => {
    const response = await ask(path);
    expect(response.status).toBe(status);
    expect(response.headers.get(header)).toBe(value);
    expect(await response.text()).toContain(words);
  });
});

test('a 308 goes to an absolute address', async () => {
  const response = await ask('/redirect/308');
  expect([response.status, response.headers.get('location')]).toEqual([308, `${site.url}/blog`]);
});

test('the list of links, pages and facets keeps foreign parameters, as shops do', async () => {
  const html = await readText('/products?utm_source=x&page=2&color=blue');
  expect(html).toContain('href="/products?utm_source=x&amp;color=red"');
  expect(html).toContain(`rel="canonical" href="${site.url}/products?color=blue&amp;page=2"`);
});

test('an unchanged page is not sent again', async () => {
  const etag = (await ask('/')).headers.get('etag') ?? '';
  expect((await ask('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('login sets two cookies, and the account knows them', async () => {
  const cookies = (await ask('/login')).headers.getSetCookie();
  expect(cookies).toHaveLength(2);
  expect(await readText('/account', { headers: { cookie: 'session=demo' } })).toContain('of Demo');
});

test('pages that vary do vary', async () => {
  expect(await readText('/vary/language', { headers: { 'accept-language': 'de' } })).toContain(
    'Tag',
  );
  expect(await readText('/vary/device', { headers: { 'user-agent': 'X Mobile' } })).toContain(
    'Small',
  );
});

test('the Shift_JIS page is in Shift_JIS', async () => {
  const bytes = await (await ask('/shift-jis')).arrayBuffer();
  expect(new TextDecoder('shift_jis').decode(bytes)).toContain('<title>「日本語」</title>');
});

test('headers are echoed as they came', async () => {
  const response = await ask('/headers?b=2&a=1', { method: 'PUT', headers: { 'X-Demo': 'yes' } });
  expect(await response.json()).toMatchObject({
    method: 'PUT',
    target: '/headers?b=2&a=1',
    headers: expect.arrayContaining([['X-Demo', 'yes']]) as unknown,
  });
});

test('an upload is counted and hashed', async () => {
  const body = Buffer.alloc(3_000_000, 'upload');
  const response = await ask('/upload', { method: 'POST', body });
  const sha256 = createHash('sha256').update(body).digest('hex');
  expect(await response.json()).toEqual({ bytes: body.length, sha256 });
});

test('pages take no other methods', async () => {
  const response = await ask('/products', { method: 'DELETE' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('HEAD has the head of GET and no body', async () => {
  const response = await ask('/download?mb=3', { method: 'HEAD' });
  expect(response.headers.get('content-length')).toBe(String(3 * 1024 * 1024));
  expect(await response.text()).toBe('');
});

test('a download has its length, and can be left', async () => {
  expect((await (await ask('/download?mb=3')).arrayBuffer()).byteLength).toBe(3 * 1024 * 1024);
  const leaving = new AbortController();
  await ask('/download?mb=500', { signal: leaving.signal });
  leaving.abort();
});

test('the event stream ticks', async () => {
  const text = await readText('/events?count=3&interval_ms=1');
  expect(text.match(/^data: .*$/gm)).toEqual([
    'data: {"tick":1}',
    'data: {"tick":2}',
    'data: {"tick":3}',
  ]);
});

test('the WebSocket echoes text and bytes', async () => {
  const socket = new WebSocket(`${site.url.replace('http', 'ws')}/ws`);
  const echoes: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      socket.send('grüße');
      socket.send(Buffer.from([0, 255]));
    });
    socket.on('message', (data: Buffer, isBinary) => {
      echoes.push(isBinary ? [...data] : data.toString());
      if (echoes.length === 2) resolve();
    });
  });
  socket.terminate();
  expect(echoes).toEqual(['grüße', [0, 255]]);
});

test('an upgrade elsewhere is refused', async () => {
  const socket = new WebSocket(`${site.url.replace('http', 'ws')}/other`);
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(error.message).toContain('404');
});

test('requests are counted by path and by target', async () => {
  const counted = await startDemoSite();
  for (const target of ['/blog?b=1', '/blog?b=1', '/blog?c']) {
    await (await fetch(counted.url + target)).text();
  }
  expect(counted.requests.total).toBe(3);
  expect([...counted.requests.byPath]).toEqual([['/blog', 3]]);
  expect(counted.requests.byTarget.get('/blog?b=1')).toBe(2);
  await counted.close();
});

test('closing ends open streams at once', async () => {
  const closing = await startDemoSite();
  const response = await fetch(`${closing.url}/events`);
  await closing.close();
  await expect(response.text()).rejects.toThrow();
});
