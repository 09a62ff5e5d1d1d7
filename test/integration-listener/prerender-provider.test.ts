// The prerender wire contract as its provider: the statuses, reject reasons and fields that existing
// middlewares read, on the same pages as everything else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HUMAN, page } from '../scenario/stage.ts';
import { KEY, openPullStage, type PullStage } from './pull-stage.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const TOKEN = [
  `X-Prerender-Token: ${KEY}`,
  `X-Prerender-Request-Id: ${ID}`,
  'X-Prerender-Int-Type: Node',
];

describe('prerender wire contract', () => {
  let stage: PullStage;
  beforeAll(async () => {
    stage = await openPullStage({
      origin: ({ target }) => page(`origin ${target}`),
      gateway: 'on_render_error: "503"\n',
    });
  });
  afterAll(() => stage.close());
  const get = (target: string, headers: readonly string[] = TOKEN, userAgent?: string) =>
    stage.pull(target, { key: null, headers, ...(userAgent === undefined ? {} : { userAgent }) });

  it.each([
    ['as it is', '/https://site.test/p?b=2&a=%26', 'https://site.test/p?a=%26&b=2'],
    ['slashes collapsed', '/https:/site.test/p2', 'https://site.test/p2'],
    ['http', '/http://site.test/p3', 'https://site.test/p3'],
    [
      'encoded',
      `/${encodeURIComponent('https://site.test/p4?x=1&y=2')}`,
      'https://site.test/p4?x=1&y=2',
    ],
    ['an old crawler', '/https://site.test/p5?_escaped_fragment_=', 'https://site.test/p5'],
  ])('gives the page: %s', async (_what, target, url) => {
    const reply = await get(target);
    expect([reply.status, reply.header('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(reply.header('X-Processed-URL')).toBe(url);
    expect(reply.header('X-Prerender-RequestId')).toBe(ID);
    expect(reply.header('X-Prerender-Reject-Reason')).toBeNull();
  });

  it('makes up a request id where there is none', async () => {
    const reply = await get('/https://site.test/p', [`X-Prerender-Token: ${KEY}`]);
    expect(reply.header('X-Prerender-RequestId')).toBe(reply.header('X-Request-ID'));
  });

  it.each<[string, string, readonly string[], number, string]>([
    ['no token', '/https://site.test/', [], 403, 'no-x-prerender-token-provided'],
    ['no token, unknown host', '/https://x.test/', [], 403, 'no-x-prerender-token-provided'],
    [
      'a wrong token',
      '/https://site.test/',
      ['X-Prerender-Token: x'],
      401,
      'invalid-x-prerender-token-provided',
    ],
    ['an unknown host', '/https://x.test/', TOKEN, 401, 'invalid-x-prerender-token-provided'],
    ['no URL', '/not-a-url', TOKEN, 404, 'url-invalid'],
    ['a URL with credentials', '/https://u:p@site.test/', TOKEN, 404, 'url-invalid'],
  ])('%s', async (_what, target, headers, status, reason) => {
    const reply = await get(target, headers);
    expect([reply.status, reply.header('X-Prerender-Reject-Reason')]).toEqual([status, reason]);
  });

  it('captures redirects and the page’s own 404, which are no rejections', async () => {
    stage.renderer.script('https://site.test/old', {
      kind: 'redirect',
      status: 301,
      location: '/new',
    });
    const moved = await get('/https://site.test/old');
    expect([moved.status, moved.header('Location')]).toEqual([301, '/new']);
    stage.renderer.script('https://site.test/gone', {
      kind: 'page',
      html: 'gone',
      head: { status: 404 },
    });
    const gone = await get('/https://site.test/gone');
    expect([gone.status, gone.header('X-Prerender-Reject-Reason')]).toEqual([404, null]);
  });

  it('says why there is no page', async () => {
    stage.renderer.script('https://site.test/slow', { kind: 'failed', code: 'timeout' });
    const reply = await get('/https://site.test/slow');
    expect([reply.status, reply.header('X-Prerender-Reject-Reason')]).toEqual([
      503,
      'render_timeout',
    ]);
  });

  it('passes on what is not rendered, with the request id', async () => {
    const reply = await get('/https://site.test/app?x=1&y=2', TOKEN, HUMAN);
    expect(reply.body).toBe('origin /app?x=1&y=2');
    expect(reply.header('X-Prerender-RequestId')).toBe(ID);
  });

  it('takes either name of the key on either endpoint', async () => {
    expect((await get('/render?url=https://site.test/p')).status).toBe(200);
    expect((await stage.pull('/https://site.test/p')).status).toBe(200);
  });
});

describe('without a key, on loopback', () => {
  it('a host is served: a middleware on the same machine needs no token', async () => {
    const stage = await openPullStage({ host: '' });
    const reply = await stage.pull('/https://site.test/', { key: null });
    expect(reply.status).toBe(200);
    expect((await stage.pull('/https://x.test/', { key: null })).status).toBe(403);
    await stage.close();
  });
});
