// The parts of the renderer that need no browser, as tables.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectTls, createServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { countRenderHops } from '../../src/core/http/render-loop.ts';
import { connectPublic, RefusedError } from '../../src/renderer/egress/connect-public.ts';
import { locate } from '../../src/renderer/egress/destination.ts';
import { createSelfSigned } from '../../src/renderer/egress/self-signed.ts';
import { applyMetas, leavingStatus } from '../../src/renderer/page/apply-metas.ts';
import { createWorkQueue, QueueFullError } from '../../src/renderer/pool/work-queue.ts';
import { compileRequestFilter } from '../../src/renderer/requests/request-filter.ts';
import { isAuthorized, isLocal } from '../../src/renderer/server/authorize.ts';

describe('requests that are left out', () => {
  const filter = compileRequestFilter({
    blocked_resource_types: ['image', 'XHR', 'beacon'],
    blocked_patterns: [
      '*.tracker.test/*',
      'exact.test/a',
      '~^cdn[.]test/v[0-9]+/',
      '~(',
      '*/ads/*',
    ],
  });
  test.each([
    ['Image', 'https://zoo.test/a.png', true],
    ['Fetch', 'https://zoo.test/api', true],
    ['Ping', 'https://zoo.test/p', true],
    ['Script', 'https://zoo.test/a.js', false],
    ['Script', 'https://a.tracker.test/t.js', true],
    ['Script', 'https://A.Tracker.test:8443/t.js?x', true],
    ['Script', 'https://zoo.test/?via=a.tracker.test/x', false],
    ['Script', 'https://zoo.test/#/ads/', false],
    ['Script', 'https://zoo.test/ads/x.js', true],
    ['Script', 'https://exact.test/a?b', true],
    ['Script', 'https://exact.test/ab', false],
    ['Script', 'https://cdn.test/v12/x.js', true],
    ['Script', 'data:text/javascript,1', false],
  ])('%s %s: %s', (type, url, isBlocked) => expect(filter(type, url)).toBe(isBlocked));
});

describe('metas', () => {
  const url = 'https://zoo.test/page';
  const origin = { status: 200, headers: [['X-Robots-Tag', 'all'] as const] };
  const apply = (statusMeta: string | null, headerMetas: string[] = [], status = 200) =>
    applyMetas({ ...origin, status }, { statusMeta, headerMetas, url });
  test.each([
    ['404', 404],
    [' 410 ', 410],
    ['503', 503],
    ['999', 200],
    ['204', 200],
    ['101', 200],
    ['404; x', 200],
    ['', 200],
    [null, 200],
    ['301', 200],
  ])('status %j gives %i', (meta, status) => expect(apply(meta).status).toBe(status));
  test.each([
    ['https://zoo.test/ä b', 'https://zoo.test/%C3%A4%20b'],
    ['/next', '/next'],
    ['//other.test/x', '//other.test/x'],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['/a\r\nSet-Cookie: x=1', null],
    ['', null],
  ])('location %j gives %j', (target, location) => {
    expect(apply('301', [`Location: ${target}`]).location).toBe(location);
  });
  test('only listed names, only values that fit a line', () => {
    const { headers } = apply(null, [
      'X-Robots-Tag: noindex',
      'Set-Cookie: a=b',
      'Content-Length: 1',
      'Link: <a\r\nb>',
      'Cache-Tag: t1',
      'no colon',
    ]);
    expect(headers).toEqual([
      ['x-robots-tag', 'noindex'],
      ['cache-tag', 't1'],
    ]);
  });
  test('not believed when the origin said something else', () => {
    expect(apply('200', ['X-Robots-Tag: none'], 500)).toEqual({
      status: 500,
      headers: origin.headers,
      location: null,
    });
  });
  test.each([
    ['301', 301],
    ['308', 308],
    ['404', 302],
    [null, 302],
  ])('a page that is left and says %j: %i', (meta, status) => {
    expect(leavingStatus(meta)).toBe(status);
  });
});

describe('where a request goes', () => {
  test.each([
    ['http://a.test/x?y', undefined, 'a.test', 80, '/x?y'],
    ['http://a.test:81/', undefined, 'a.test', 81, '/'],
    ['http://[::1]:80/', undefined, '::1', 80, '/'],
    ['/x', 'zoo.test:443', 'zoo.test', 443, '/x'],
  ])('%s in tunnel %s', (url, tunnel, host, port, path) => {
    const place = locate({ url } as IncomingMessage, tunnel);
    expect(place).toMatchObject({ target: { host, port }, path });
  });
  test.each([
    ['/x', undefined],
    ['http://user@a.test/', undefined],
    ['http://a.test', undefined],
    ['https://a.test/', undefined],
    ['http://a.test/', 'zoo.test:443'],
    ['*', 'zoo.test:443'],
  ])('%s in tunnel %s: nowhere', (url, tunnel) => {
    expect(locate({ url } as IncomingMessage, tunnel)).toBe(null);
  });
});

describe('public connections', () => {
  const signal = AbortSignal.timeout(5_000);
  test.each([
    ['127.0.0.1', []],
    ['::1', []],
    ['a.test', ['127.0.0.1']],
    ['a.test', ['10.0.0.1', 'fe80::1', '::ffff:8.8.8.8']],
    ['a.test', []],
  ])('%s with %j is refused', async (host, addresses) => {
    const connecting = connectPublic({ host, port: 80 }, signal, async () => addresses);
    await expect(connecting).rejects.toBeInstanceOf(RefusedError);
  });
});

test('the certificate is one that TLS takes, with the key that the browser trusts', async () => {
  const { cert, key, keyHash } = createSelfSigned();
  expect(keyHash).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  const parsed = new X509Certificate(cert);
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  const server = createServer({ cert, key }, (socket) => socket.end('hello')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString()).toBe('hello');
  socket.destroy();
  server.close();
});

test.each([
  [[], 0],
  [[['X-Edge-Render', '2']], 2],
  [[['x-edge-render', 'rs-1']], 1],
  [[['x-edge-render', '0']], 1],
  [[['x-edge-render', '999']], 1],
] as const)('render hops of %j: %i', (headers, hops) => {
  expect(countRenderHops(headers)).toBe(hops);
});

describe('who may ask', () => {
  test.each([
    [{ path: 'render.sock' }, true],
    [{ host: '127.0.0.1', port: 0 }, true],
    [{ host: '127.8.9.1', port: 0 }, true],
    [{ host: 'localhost', port: 0 }, true],
    [{ host: '::1', port: 0 }, true],
    [{ host: '0.0.0.0', port: 0 }, false],
    [{ host: '::', port: 0 }, false],
    [{ host: 'localhost.evil.test', port: 0 }, false],
  ])('%j is out of reach: %s', (listen, expected) => expect(isLocal(listen)).toBe(expected));
  test.each([
    [{}, null, true],
    [{ origin: 'https://evil.test' }, null, false],
    [{ 'sec-fetch-site': 'cross-site' }, null, false],
    [{ authorization: 'bearer t' }, 't', true],
    [{ authorization: 'Bearer ' }, '', true],
    [{}, 't', false],
  ])('%j with token %j: %s', (headers, token, expected) => {
    expect(isAuthorized(headers, token)).toBe(expected);
  });
});

describe('jobs that wait', () => {
  const forever = new AbortController().signal;
  const later = { deadlineAt: performance.now() + 60_000, signal: forever };
  test('first come first served, bounded, a repeated one in front', () => {
    let lengthMax = 2;
    const queue = createWorkQueue<string>(() => lengthMax);
    const ignore = (): void => undefined;
    queue.push('a', later, ignore);
    queue.push('b', later, ignore);
    expect(() => queue.push('c', later, ignore)).toThrow(QueueFullError);
    lengthMax = 3;
    queue.push('c', later, ignore);
    queue.pushFront('again', later, ignore);
    const taken = Array.from({ length: 5 }, () => queue.shift());
    expect(taken).toEqual(['again', 'a', 'b', 'c', undefined]);
  });
  test('leave at their deadline or when their asker leaves', async () => {
    const queue = createWorkQueue<string>(() => 5);
    const asker = new AbortController();
    const rejected: string[] = [];
    const limits = { deadlineAt: performance.now() + 60_000, signal: asker.signal };
    queue.push('left', limits, () => rejected.push('left'));
    await new Promise<void>((resolve) => {
      const soon = { deadlineAt: performance.now() + 5, signal: forever };
      queue.push('late', soon, () => resolve());
    });
    asker.abort();
    expect(rejected).toEqual(['left']);
    expect(queue.length()).toBe(0);
  });
});
