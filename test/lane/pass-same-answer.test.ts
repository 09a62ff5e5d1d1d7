// What the lane passes on is what the long way passes on: in both directions, for whatever an
// origin answers and a client asks.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOT, openStage, setStage } from '../scenario/stage.ts';
import { countParsed, openClient, slowly } from './lane-client.ts';
import { expectSamePassing, humanGet, readCounters } from './pass-client.ts';

const OLD = 'Date: Mon, 01 Jan 2099 00:00:00 GMT';
const LONG = 'x'.repeat(300_000);

function ok(lines: readonly string[], body = '', start = 'HTTP/1.1 200 OK'): string {
  return [start, ...lines, '', body].join('\r\n');
}

/** By target; the origin closes behind those that say so or have no other end. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/length': ok(['Content-Length: 3', 'Content-Type: text/plain', OLD], 'abc'),
  '/empty': ok(['Content-Length: 0']),
  '/long': ok([`Content-Length: ${LONG.length}`], LONG),
  '/chunks': ok(['Transfer-Encoding: chunked', OLD], '3\r\nabc\r\n2;a=b\r\nde\r\n0\r\n\r\n'),
  '/no-chunks': ok(['Transfer-Encoding: chunked'], '0\r\n\r\n'),
  '/trailers': ok(
    ['Trailer: X-Sum', 'transfer-encoding: Chunked'],
    '3\r\nabc\r\n0\r\nX-Sum: 1\r\nHost: evil\r\nx-sum:2\r\n\r\n',
  ),
  '/trailer-of-nothing': ok(['Trailer: X-Sum', 'Content-Length: 3'], 'abc'),
  '/until-close': ok(['Content-Type: text/plain'], 'until the end'),
  '/until-close/empty': ok([]),
  '/close': ok(['Connection: close, X-Foo', 'X-Foo: 1', 'x-foo: 2', 'Content-Length: 2'], 'ab'),
  '/nominated': ok([
    'connection: X-Foo , Set-Cookie',
    'X-Foo: 1',
    'Set-Cookie: a',
    'Content-Length: 0',
  ]),
  '/hop-by-hop': ok([
    'Keep-Alive: timeout=9',
    'Proxy-Connection: x',
    'Upgrade: x',
    'Content-Length: 0',
  ]),
  '/204': ok(['X: 1'], '', 'HTTP/1.1 204 No Content'),
  '/204/length': ok(['Content-Length: 0'], '', 'HTTP/1.1 204 No Content'),
  '/206': ok(['Content-Range: bytes 0-2/9', 'Content-Length: 3'], 'abc', 'HTTP/1.1 206 Part'),
  '/304': ok(['ETag: "x"'], '', 'HTTP/1.1 304 Not Modified'),
  '/304/length': ok(['ETag: "x"', 'Content-Length: 4711'], '', 'HTTP/1.1 304 Not Modified'),
  '/404': ok(['Content-Length: 4'], 'gone', 'HTTP/1.1 404 Not Found'),
  '/503': ok(['Retry-After: 5', 'Content-Length: 0'], '', 'HTTP/1.1 503 Busy'),
  '/no-reason': ok(['Content-Length: 0'], '', 'HTTP/1.1 299'),
  '/odd-reason': ok(['Content-Length: 0'], '', 'HTTP/1.1 299   Very \xe4 Odd '),
  '/cookies': ok([
    'set-COOKIE: a=1',
    'Link: <a>',
    'Set-Cookie: b=2, c',
    'Link: <b>',
    'Content-Length: 0',
  ]),
  '/two-types': ok(['Content-Type: text/html', 'content-type: text/plain', 'Content-Length: 0']),
  '/ours': ok([
    'x-request-id: theirs',
    'Via: 1.0 them',
    'Cache-Status: them; hit',
    'Content-Length: 0',
  ]),
  '/latin1': ok(['X-Latin: caf\xe9 \xa0', 'X-Empty:', 'X-Blank: \t ', 'Content-Length: 0']),
  '/gzip': ok(
    ['Content-Encoding: gzip', `Content-Length: ${gzipSync('abc').length}`],
    gzipSync('abc').toString('latin1'),
  ),
  '/html': ok(['Content-Type: text/html', 'VARY: Cookie', 'Content-Length: 2'], 'ab'),
  '/html/no-vary': ok(['content-type:Text/HTML; charset=x', 'Content-Length: 2'], 'ab'),
  '/html/two-varies': ok(['Content-Type: text/html', 'Vary: A', 'Vary: B', 'Content-Length: 0']),
  '/html/any': ok(['Content-Type: text/html', 'Vary: *', 'Content-Length: 0']),
  '/html/chunks': ok(
    ['Content-Type: text/html', 'Vary:', 'Transfer-Encoding: chunked'],
    '2\r\nab\r\n0\r\n\r\n',
  ),
  '/type-of-events': ok(['Content-Type: text/event-stream'], 'data: 1\n\n'),
};

function answerTo(target: string, port: number): string {
  const kind = /^\/(location|content-location|refresh)\/(.*)$/.exec(target);
  if (kind === null) return ANSWERS[target] ?? ok(['Content-Length: 2'], 'ok');
  const [, name = '', path = ''] = kind;
  const url = decodeURIComponent(path).replace('{origin}', `http://127.0.0.1:${port}`);
  const field = name === 'refresh' ? `Refresh: 0; url=${url}` : `${name}: ${url}`;
  return ok([field, 'Content-Length: 0'], '', 'HTTP/1.1 302 Found');
}

const CONDITION = ['If-None-Match: "x"'];
const LOCATIONS = [
  '{origin}/login?x',
  'http://inner.test/a',
  '//INNER.test:80/a',
  '/a',
  'https://else.test/',
];

const REQUESTS: readonly (readonly [string, string])[] = [
  ...Object.keys(ANSWERS)
    .filter((target) => !target.startsWith('/304'))
    .map((target) => [`answer ${target}`, humanGet(target)] as const),
  ['a 304', humanGet('/304', CONDITION)],
  ['a 304 with a length', humanGet('/304/length', ['If-Modified-Since: x'])],
  ...['location', 'content-location', 'refresh'].flatMap((kind) =>
    LOCATIONS.map((url) => {
      return [`${kind} ${url}`, humanGet(`/${kind}/${encodeURIComponent(url)}`)] as const;
    }),
  ),
  ['cookies', humanGet('/', ['Cookie: a=1', 'cookie: b=2'])],
  ['conditions', humanGet('/', [...CONDITION, 'If-Match: *', 'If-Range: "y"'])],
  ['a range', humanGet('/206', ['Range: bytes=0-2'])],
  ['credentials', humanGet('/', ['Authorization: Basic eDp5'])],
  ['X-Forwarded-*', humanGet('/', forwardedFields())],
  [
    'proxies’ fields',
    humanGet('/', ['X-Real-IP: 1.2.3.4', 'X-Original-URL: /a', 'Forwarded: for=x']),
  ],
  ['an id', humanGet('/', ['X-Request-ID: theirs'])],
  ['an id that is none', humanGet('/', ['X-Request-ID: "}'])],
  ['names with _', humanGet('/', ['X_Y: 1', 'X-Y: 2', 'X_Forwarded_For: 1.2.3.4'])],
  ['another proxy', humanGet('/', ['Via: 1.1 varnish'])],
  [
    'odd case and repeats',
    humanGet('/', ['aCCept: a', 'X: 1', 'x: 2', 'Accept: b', 'X:', 'X: \t']),
  ],
  ['latin1', humanGet('/', ['X-Latin: \xe4\xa0'])],
  ['no User-Agent', humanGet('/').replace(/User-Agent: .*\r\n/, '')],
  ['keep-alive', humanGet('/', ['Connection: Keep-Alive'])],
  ['a port', humanGet('/', [], 'site.test:8080')],
  ['capitals', humanGet('/', [], 'SITE.test')],
  ...['//x', '/a%', '/"quotes"?a="b"', '/a/../b/./c', '/?', '/x?%00', '/a?utm_source=x&b=2&a=1']
    .concat("/'<>\\^`{|}~", '/..;/x', '/%e4%zz', `/${'y'.repeat(2_000)}`)
    .map((target) => [`target ${target.slice(0, 30)}`, humanGet(target)] as const),
  [
    'a crawler with credentials',
    humanGet('/html', ['Authorization: Basic eDp5']).replace(
      /User-Agent: .*/,
      `User-Agent: ${BOT}`,
    ),
  ],
  ['a crawler at a file', humanGet('/style.css').replace(/User-Agent: .*/, `User-Agent: ${BOT}`)],
];

function forwardedFields(): string[] {
  const lines = ['For: 192.0.2.1, 10.0.0.1', 'Proto: https', 'Host: evil', 'Port: 1', 'Prefix: /p'];
  return lines.map((line) => `X-Forwarded-${line}`);
}

const ROWS: readonly (readonly [string, string, string])[] = [
  ['the defaults', '', ''],
  ['a trusted proxy', 'server:\n  trusted_proxies: [127.0.0.1, 10.0.0.0/8]\n', ''],
  ['another User-Agent', 'bypass: {user_agent: "Their-Agent/1.0"}\n', ''],
  ['another Host', '', 'origin_host_header: inner.test\nscheme: http\n'],
  ['no diagnostics', 'diagnostics: off\n', ''],
  ['HTML that varies', 'downstream_cache: vary\n', ''],
];

describe.each(ROWS)('%s', (_what, gateway, host) => {
  let stage: Awaited<ReturnType<typeof openStage>>;
  beforeAll(async () => {
    stage = await openStage({
      gateway,
      host,
      origin: ({ target }, socket) => {
        const bytes = answerTo(target, socket.localPort ?? 0);
        const hasEnd = /\r\n(?:content-length|transfer-encoding):|^HTTP\/1\.1 [23]04/i.test(bytes);
        if (hasEnd && !/\r\nConnection: close/i.test(bytes)) return bytes;
        socket.end(bytes, 'latin1');
        return null;
      },
    });
  });
  afterAll(async () => {
    await stage.close();
  });

  test.each(REQUESTS)('%s', async (_request, request) => {
    await expectSamePassing(stage, request);
  });
});

test('is counted alike', async () => {
  const counts = await Promise.all(
    [(request: string) => request, slowly].map(async (way) => {
      const stage = await setStage({ origin: ({ target }) => ANSWERS[target] ?? null });
      const client = await openClient(stage.gateway.port);
      const parsed = countParsed(stage.gateway.port);
      for (const target of ['/length', '/404', '/length']) await client.ask(way(humanGet(target)));
      return { parsed: parsed(), counters: await readCounters(stage) };
    }),
  );
  expect(counts.map(({ parsed }) => parsed)).toEqual([0, 3]);
  expect(counts[0]?.counters).toEqual(counts[1]?.counters);
  expect(counts[0]?.counters.join()).toMatch(/requests_total\{[^}]*source="bypass"[^}]*\} 3/);
});
