// `GET /render?url=` as the reference engine answers it, over real sockets: keys, bad questions,
// pages from the same cache as the public listener, and what is passed on to the origin.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkAccess } from '../../src/server/integration/check-access.ts';
import { hostPolicy } from '../helpers/policies.ts';
import { valuesOf } from '../helpers/raw-origin.ts';
import { answer, HUMAN } from '../scenario/stage.ts';
import { KEY, openPullStage, type PullStage } from './pull-stage.ts';

const PAGE = encodeURIComponent('https://site.test/shop?b=2&a=1&utm_source=x');

describe('GET /render', () => {
  let stage: PullStage;
  beforeAll(async () => {
    stage = await openPullStage({
      origin: ({ target }) =>
        answer(
          200,
          `origin ${target}`,
          'Content-Type: text/html',
          'Set-Cookie: a=1',
          'Set-Cookie: b=2',
        ),
    });
  });
  afterAll(() => stage.close());

  it('renders, then hits, in one cache with the public listener', async () => {
    const first = await stage.pull(`/render?url=${PAGE}`);
    expect(first.status).toBe(200);
    expect(first.body).toBe('<!doctype html><title>https://site.test/shop?a=1&b=2</title>');
    const names = ['X-Render-Source', 'X-Render-Cache', 'X-Processed-URL', 'X-Unmatched-Dimension'];
    expect(names.map(first.header)).toEqual([
      'rendered',
      'new',
      'https://site.test/shop?a=1&b=2',
      null,
    ]);
    expect(first.header('X-Request-ID')).toMatch(/^[0-9a-f-]{36}$/);
    const second = await stage.pull('/render?url=https://site.test/shop?a=1&b=2');
    expect(names.slice(0, 2).map(second.header)).toEqual(['cache', 'hit']);
    expect(second.header('X-Cache-Age')).toMatch(/^\d$/);
    const inline = await stage.ask('/shop?b=2&a=1');
    expect(inline.header('X-Render-Source')).toBe('cache');
    expect(stage.renderer.requests).toHaveLength(1);
  });

  it('answers HEAD and conditions from the entry', async () => {
    const page = await stage.pull(`/render?url=${PAGE}`);
    const head = await stage.pull(`/render?url=${PAGE}`, { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([200, '']);
    expect(head.header('Content-Length')).toBe(page.header('Content-Length'));
    const condition = [`If-None-Match: ${page.header('ETag')}`];
    expect((await stage.pull(`/render?url=${PAGE}`, { headers: condition })).status).toBe(304);
  });

  it('keeps every parameter of nginx’s recipe, which doesn’t encode', async () => {
    const reply = await stage.pull('/render?url=https://site.test/q?x=1&y=a%26b&z=c%2Bd+e');
    expect(reply.header('X-Processed-URL')).toBe('https://site.test/q?x=1&y=a%26b&z=c%2Bd%20e');
  });

  it('gives people what the dimensions say: the origin’s own answer', async () => {
    const before = stage.origin.requests.length;
    const reply = await stage.pull('/render?url=http://site.test/a%2Fb//c?x=1&y=%26', {
      userAgent: HUMAN,
      headers: ['Cookie: sid=1', 'X-Forwarded-Host: evil.test', 'X-Request-ID: from-nginx'],
    });
    expect(reply.body).toBe('origin /a%2Fb//c?x=1&y=%26');
    expect(reply.headers('Set-Cookie')).toEqual(['a=1', 'b=2']);
    expect(reply.header('X-Render-Source')).toBe('bypass');
    expect(reply.header('X-Request-ID')).toBe('from-nginx');
    const request = stage.origin.requests[before];
    const sent = (name: string) => valuesOf(request, name);
    expect(sent('user-agent')).toEqual([HUMAN]);
    expect(sent('host')).toEqual(['site.test']);
    expect(sent('cookie')).toEqual(['sid=1']);
    expect(sent('x-forwarded-host')).toEqual(['site.test']);
    expect(sent('x-forwarded-proto')).toEqual(['https']);
    // By these a proxy or middleware in front of the origin knows not to ask us again.
    expect([sent('x-edge-render'), sent('x-prerender')]).toEqual([['1'], ['1']]);
    expect(request?.head).not.toContain(KEY);
  });

  it('never gives a client’s forged mark or token to the origin twice', async () => {
    const before = stage.origin.requests.length;
    await stage.pull('/render?url=https://site.test/p', {
      userAgent: HUMAN,
      headers: ['X-Prerender-Token: other', 'X-Prerender: 0'],
    });
    const request = stage.origin.requests[before];
    expect(valuesOf(request, 'x-prerender')).toEqual(['1']);
    expect(valuesOf(request, 'x-prerender-token')).toEqual([]);
  });

  it.each([
    ['no parameter', '/render', 400],
    ['an empty one', '/render?url=', 400],
    ['no URL', '/render?url=shop', 400],
    ['another scheme', '/render?url=file%3A%2F%2F%2Fetc%2Fpasswd', 400],
    ['credentials', '/render?url=https://u:p@site.test/', 400],
    ['a line break', '/render?url=https%3A%2F%2Fsite.test%2F%0D%0Ax', 400],
    ['too long', `/render?url=https://site.test/${'a'.repeat(9_000)}`, 400],
    ['another endpoint', '/cache', 404],
    ['the root', '/', 404],
  ])('%s: %s', async (_what, target, status) => {
    const reply = await stage.pull(target);
    expect(reply.status).toBe(status);
    expect(reply.header('X-Request-ID')).not.toBeNull();
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    const reply = await stage.pull(`/render?url=${PAGE}`, { method });
    expect([reply.status, reply.header('Allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('answers an unknown host, a wrong key and no key alike', async () => {
    const questions = [
      ['/render?url=https://other.test/', KEY],
      ['/render?url=https://site.test/', 'wrong'],
      ['/render?url=https://site.test/', null],
      ['/render?url=https://other.test/', null],
    ] as const;
    const heads = new Set<string>();
    for (const [target, key] of questions) {
      const reply = await stage.pull(target, { key });
      expect(reply.status).toBe(401);
      const id = reply.header('X-Request-ID') ?? '';
      const date = reply.header('Date') ?? '';
      heads.add(`${reply.head}\n\n${reply.body}`.replaceAll(id, 'id').replace(date, ''));
    }
    expect(heads.size).toBe(1);
  });

  it('counts two keys as none', async () => {
    const headers = [`X-Render-Key: ${KEY}`];
    expect((await stage.pull('/render?url=https://site.test/', { headers })).status).toBe(401);
  });

  it('ends loops: a render’s own request is never rendered', async () => {
    const headers = ['X-Edge-Render: 1'];
    expect((await stage.pull(`/render?url=${PAGE}`, { headers })).status).toBe(508);
  });

  it('has no upgrades', async () => {
    const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];
    expect((await stage.pull(`/render?url=${PAGE}`, { headers })).status).toBe(405);
  });

  it('is alive, and ready while its renderer is', async () => {
    const health = await stage.pull('/health', { key: null });
    expect([health.status, health.body]).toEqual([200, '{"status":"ok"}\n']);
    expect((await stage.pull('/ready', { key: null })).body).toBe('{"status":"ready"}\n');
    stage.renderer.setReady(false);
    const ready = await stage.pull('/ready', { key: null });
    expect([ready.status, ready.body]).toEqual([503, '{"status":"not ready"}\n']);
    stage.renderer.setReady(true);
    expect((await stage.pull('/health', { method: 'POST', key: null })).status).toBe(405);
  });

  it('writes a log line for what it refuses, without the key', () => {
    const lines = stage.gateway.log.filter(({ msg }) => msg === 'request');
    expect(lines.some(({ status }) => status === 401)).toBe(true);
    expect(JSON.stringify(stage.gateway.log)).not.toContain(KEY);
  });
});

describe('who may ask', () => {
  const keyed = hostPolicy({ renderKey: 'k' });
  const keyless = hostPolicy();
  it.each([
    ['the right key', keyed, 'k', false, 'granted'],
    ['a wrong one', keyed, 'x', false, 'refused'],
    ['a longer one', keyed, 'kk', false, 'refused'],
    ['none', keyed, null, false, 'missing'],
    ['none on loopback, where there is one', keyed, null, true, 'missing'],
    ['an empty one', keyed, '', true, 'refused'],
    ['no key at the host', keyless, 'k', false, 'refused'],
    ['no key at the host, an empty one given', keyless, '', false, 'refused'],
    ['no key at the host, on loopback', keyless, null, true, 'granted'],
    ['no key at the host, one given, on loopback', keyless, 'x', true, 'granted'],
    ['no host', null, '', true, 'refused'],
    ['no host, no key', null, null, true, 'missing'],
  ] as const)('%s', (_what, host, given, isLocal, expected) => {
    expect(checkAccess(host, given, isLocal)).toBe(expected);
  });
});
