// The door's pure checks, as tables: the cases that raw bytes through Node's own parser cannot show,
// because it refuses them first, and the borders of each rule.
import { describe, expect, it } from 'vitest';
import { checkFraming } from '../../src/server/door/check-framing.ts';
import { parseAuthority } from '../../src/server/door/check-host.ts';
import { checkRequest, type RequestHead } from '../../src/server/door/check-request.ts';
import { checkTarget } from '../../src/server/door/check-target.ts';
import { inspectRequestLines } from '../../src/server/door/inspect-request-line.ts';

describe('parseAuthority', () => {
  const label = 'a'.repeat(63);
  it.each([
    ['good.example', 'good.example', null],
    ['GOOD.Example:8080', 'good.example', 8080],
    [' \tgood.example\t ', 'good.example', null],
    ['good.example.', 'good.example.', null],
    ['localhost:0', 'localhost', 0],
    ['a_b.example:65535', 'a_b.example', 65_535],
    ['127.0.0.1', '127.0.0.1', null],
    ['[::1]:80', '[::1]', 80],
    ['[2001:DB8::1]', '[2001:db8::1]', null],
    [
      `${label}.${label}.${label}.${'a'.repeat(61)}`,
      `${label}.${label}.${label}.${'a'.repeat(61)}`,
      null,
    ],
  ])('takes %j', (text, name, port) => {
    expect(parseAuthority(text)).toEqual({ name, port });
  });

  it.each([
    '',
    '.',
    '.example',
    'a..b',
    'a.example..',
    ':80',
    'a:',
    'a:65536',
    'a:-1',
    'a:+1',
    'a: 80',
    'a:80:80',
    'a:000080',
    'u@a',
    'a/b',
    'a?b',
    'a#b',
    'a\\b',
    'a b',
    'a,b',
    'a%2eb',
    'a\u0000b',
    'gööd.example',
    '::1',
    '[::1',
    '::1]',
    '[::1]a',
    '[::1]:80a',
    '[fe80::1%eth0]',
    '[1.2.3.4]',
    '[]',
    `${label}a.example`,
    `${label}.${label}.${label}.${label}`,
  ])('refuses %j', (text) => {
    expect(parseAuthority(text)).toBeNull();
  });
});

describe('checkFraming', () => {
  it.each([
    [[], null],
    [['Content-Length', '5'], null],
    [['Content-Length', '0005'], null],
    [['Transfer-Encoding', 'chunked'], null],
    [['transfer-encoding', ' Chunked\t'], null],
    [['Transfer-Encoding', 'gzip, chunked'], 'transfer_coding'],
    [['Transfer-Encoding', 'identity'], 'transfer_coding'],
    [['Transfer-Encoding', ''], 'transfer_coding'],
    [['Transfer-Encoding', '"chunked"'], 'transfer_coding'],
    [['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'], 'framing'],
    [['Transfer-Encoding', 'chunked', 'Content-Length', '5'], 'framing'],
    [['Content-Length', '5', 'Content-Length', '5'], 'framing'],
    [['Content-Length', '5, 5'], 'framing'],
    [['Content-Length', '+5'], 'framing'],
    [['Content-Length', ''], 'framing'],
    [['Content-Length', '99999999999999999'], 'framing'],
  ] as const)('%j: %s', (raw, reason) => {
    expect(checkFraming(raw, '1.1')).toBe(reason);
  });

  it('has no chunks in HTTP/1.0', () => {
    expect(checkFraming(['Transfer-Encoding', 'chunked'], '1.0')).toBe('framing');
  });
});

describe('checkTarget', () => {
  const host = { name: 'good.example', port: null };
  it.each([
    ['GET', '/', '/'],
    ['GET', '//x//%2f?a?b', '//x//%2f?a?b'],
    ['OPTIONS', '*', '*'],
    ['GET', 'http://good.example', '/'],
    ['GET', 'http://good.example?q', '/?q'],
    ['GET', 'HTTPS://Good.Example:443/a', '/a'],
    ['GET', '/a?%00', '/a?%00'],
  ])('%s %s goes on as %s', (method, target, expected) => {
    expect(checkTarget(method, target, host)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ['GET', '*', 'target_form'],
    ['GET', '', 'target_form'],
    ['GET', 'a', 'target_form'],
    ['GET', '?a', 'target_form'],
    ['GET', 'http://good.example:81/', 'target_form'],
    ['GET', 'http://good.example:443/', 'target_form'],
    ['GET', 'http://evil.example/', 'target_form'],
    ['GET', 'http:///a', 'target_form'],
    ['GET', 'ws://good.example/', 'target_form'],
    ['GET', 'http:/good.example/', 'target_form'],
    ['GET', '/a#b', 'target_bytes'],
    ['GET', '/a b', 'target_bytes'],
    ['GET', '/a\u0000', 'target_bytes'],
    ['GET', '/a\r\nX: 1', 'target_bytes'],
    ['GET', '/\u00e4', 'target_bytes'],
    ['GET', '/a%00b', 'target_bytes'],
  ])('%s %j: %s', (method, target, reason) => {
    expect(checkTarget(method, target, host)).toEqual({ ok: false, error: reason });
  });
});

describe('checkRequest', () => {
  const limits = { headerFieldsMax: 3, urlBytesMax: 10 };
  const head: RequestHead = {
    method: 'GET',
    target: '/',
    httpVersion: '1.1',
    rawHeaders: ['Host', 'good.example'],
    isHttp2: false,
  };
  const many = (count: number): string[] =>
    Array.from({ length: count - 1 }, (_, i) => [`X${i}`, '']).flat();
  it.each([
    [{ httpVersion: '2.0' }, 'version'],
    [{ httpVersion: '0.9' }, 'version'],
    [{ rawHeaders: [...head.rawHeaders, ...many(4)] }, 'header_fields'],
    [{ rawHeaders: [] }, 'host_missing'],
    [{ rawHeaders: [], httpVersion: '1.0' }, 'host_missing'],
    [{ rawHeaders: ['Host', 'a', 'hOST', 'a'] }, 'host_repeated'],
    [{ rawHeaders: ['Host', 'a b'] }, 'host_malformed'],
    [{ target: `/${'a'.repeat(10)}` }, 'target_length'],
    [{ method: 'CONNECT' }, 'method'],
    [{ method: 'TRACE' }, 'method'],
    [{ method: 'PURGE' }, 'method'],
    ...['FOO', 'get', 'PRI', '__proto__', 'constructor', '', 'G'.repeat(5_000)].map(
      (method) => [{ method, httpVersion: '2.0', isHttp2: true }, 'unknown_method'] as const,
    ),
  ] as const)('%j: %s', (change, reason) => {
    expect(checkRequest({ ...head, ...change }, limits)).toEqual({ ok: false, error: reason });
  });

  it.each([
    {},
    { httpVersion: '1.0' },
    { httpVersion: '2.0', isHttp2: true },
    { rawHeaders: [...head.rawHeaders, ...many(3)] },
    { method: 'PROPFIND' },
  ])('%j passes', (change) => {
    expect(checkRequest({ ...head, ...change }, limits)).toEqual({ ok: true, value: '/' });
  });
});

describe('inspectRequestLines', () => {
  const line = (text: string): string => `${text}\r\nHost: a\r\n\r\n`;
  it.each([
    [line('GET  / HTTP/1.1'), true],
    [line('GET /  HTTP/1.1'), true],
    [`\r\n${line('GET  / HTTP/1.1')}`, true],
    [line('GET / HTTP/1.1') + line('GET  / HTTP/1.1'), true],
    [line('GET / HTTP/1.1'), false],
    [line('GET / HTTP/1.1').replace('Host', 'X: GET  / HTTP/1.1\r\nHost'), false],
    ['POST / HTTP/1.1\r\nContent-Length: 20\r\n\r\nGET  / HTTP/1.1\r\n\r\n\r\n', false],
    ['POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nGET  / HTTP/1.1\r\n\r\n\r\n', false],
    ['some header: value  with  spaces\r\n\r\n', false],
    ['', false],
    ['\r\n\r\n', false],
  ])('%j: %s', (text, isLoose) => {
    expect(inspectRequestLines(Buffer.from(text)).isLoose).toBe(isLoose);
  });

  it.each([
    ['GET  /', 'request_line'],
    ['GET / HTTP/1.1\r\nHost: a', 'head'],
    ['POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n', 'body'],
    [line('GET / HTTP/1.1'), 'nothing'],
  ])('%j stops in %s', (text, stoppedIn) => {
    expect(inspectRequestLines(Buffer.from(text)).stoppedIn).toBe(stoppedIn);
  });
});
