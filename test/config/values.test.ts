// The grammar of single values.
import { describe, expect, test } from 'vitest';
import { parseCidr } from '../../src/config/values/parse-cidr.ts';
import { parseDomain } from '../../src/config/values/parse-domain.ts';
import { formatDuration, parseDuration } from '../../src/config/values/parse-duration.ts';
import { isLoopback, isSameListener, parseListen } from '../../src/config/values/parse-listen.ts';
import { parseOrigin, parseServiceUrl } from '../../src/config/values/parse-origin.ts';
import { parseHostPort, parseRedisUrl } from '../../src/config/values/parse-redis-url.ts';
import { parseSize } from '../../src/config/values/parse-size.ts';
import type { Result } from '../../src/core/result.ts';

/** undefined stands for "refused". */
function valueOf<T>(result: Result<T, unknown>): T | undefined {
  return result.ok ? result.value : undefined;
}

describe('durations', () => {
  test.each([
    [0, 0],
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['1h30m', 5_400_000],
    ['1d12h', 129_600_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['1.5h', 5_400_000],
    [' 30s ', 30_000],
  ])('%j is %d ms', (text, durationMs) => {
    expect(valueOf(parseDuration(text))).toBe(durationMs);
  });

  const refused = [
    ...[30, -1, Number.POSITIVE_INFINITY, Number.NaN, 1e-9, 2 ** 60, true, null, []],
    ...['', '30', '-5m', '30 s', '30S', '1D', 's', '1h30', '1,5h', '1e3s', '0.1ms', '99999w'],
    ...['.inf', '1us', '٣s'],
  ];
  test.each(refused.map((value) => [value]))('%j is refused', (value) => {
    expect(valueOf(parseDuration(value))).toBeUndefined();
  });

  test.each([
    [0, '0'],
    [1_500, '1500ms'],
    [90_000, '90s'],
    [7_200_000, '2h'],
    [604_800_000, '1w'],
  ])('%d ms is written %s', (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
    expect(valueOf(parseDuration(text))).toBe(durationMs);
  });
});

test.each([
  [0, 0],
  [8_192, 8_192],
  ['64B', 64],
  ['512KiB', 524_288],
  ['1.5MiB', 1_572_864],
  ['10GiB', 10_737_418_240],
  ['10GB', undefined],
  ['10 GiB', undefined],
  ['-1KiB', undefined],
  ['99999999TiB', undefined],
  [-1, undefined],
  [1.5, undefined],
  [null, undefined],
])('size %j is %s bytes', (text, bytes) => {
  expect(valueOf(parseSize(text))).toBe(bytes);
});

describe('listen addresses', () => {
  test.each([
    [':8080', '0.0.0.0', 8_080],
    ['*:8080', '0.0.0.0', 8_080],
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['[::1]:8080', '::1', 8_080],
    ['[::]:443', '::', 443],
    ['localhost:80', 'localhost', 80],
    ['10070', '0.0.0.0', 10_070],
    [10_070, '0.0.0.0', 10_070],
  ])('%j', (text, host, port) => {
    expect(valueOf(parseListen(text))).toEqual({ host, port });
  });

  test.each([
    '',
    ':',
    '::1:80',
    '[::1]',
    '[x]:80',
    '1.2.3:80',
    'a b:80',
    ':80/x',
    ':123456',
    'h:-1',
  ])('%j is refused', (text) => {
    expect(valueOf(parseListen(text))).toBeUndefined();
  });

  test('loopback and clashes', () => {
    const at = (host: string, port = 80) => ({ host, port });
    expect(
      ['127.0.0.1', '127.9.9.9', '::1', 'localhost'].every((host) => isLoopback(at(host))),
    ).toBe(true);
    expect(['0.0.0.0', '::', '10.0.0.1'].some((host) => isLoopback(at(host)))).toBe(false);
    expect(isSameListener(at('0.0.0.0'), at('127.0.0.1'))).toBe(true);
    expect(isSameListener(at('127.0.0.1'), at('127.0.0.2'))).toBe(false);
    expect(isSameListener(at('127.0.0.1', 0), at('127.0.0.1', 0))).toBe(false);
  });
});

test.each([
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['HTTPS://Example.COM:0443/', 'https://example.com:443'],
  ['http://[::1]:80', 'http://[::1]:80'],
  ['http://bücher.example', 'http://xn--bcher-kva.example'],
  ['http://h:', 'http://h'],
  ['h:3000', undefined],
  ['//h', undefined],
  ['http://', undefined],
  ['http://:80', undefined],
  ['http://h:0', undefined],
  ['http://h:8x', undefined],
  ['http://h?x', undefined],
  ['http://h#x', undefined],
  ['http://h/a', undefined],
  ['http://u@h', undefined],
  ['http://h\\evil', undefined],
])('origin %s', (text, origin) => {
  expect(valueOf(parseOrigin(text))).toBe(origin);
});

test.each([
  ['http://r:3001/render/', 'http://r:3001/render'],
  ['http://r', 'http://r'],
  ['http://r/?a', undefined],
  ['ftp://r', undefined],
])('service URL %s', (text, url) => {
  expect(valueOf(parseServiceUrl(text))).toBe(url);
});

test.each([
  ['EXAMPLE.com.', 'example.com'],
  ['münchen.example', 'xn--mnchen-3ya.example'],
  ['*.Example.com', '*.example.com'],
  ['localhost', 'localhost'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]'],
  ['[2001:DB8::1]', '[2001:db8::1]'],
  ['*', undefined],
  ['*.com', undefined],
  ['*.*.example.com', undefined],
  ['*.1.2.3.4', undefined],
  ['a..b', undefined],
  ['exa mple', undefined],
  ['http://a.example', undefined],
  ['a.example:80', undefined],
  ['[::1]:80', undefined],
  ['', undefined],
])('domain %s', (text, domain) => {
  expect(valueOf(parseDomain(text))).toBe(domain);
});

test.each([
  ['10.0.0.0/8', '10.0.0.0/8'],
  ['192.168.1.4', '192.168.1.4'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['10.0.0.0/33', undefined],
  ['10.0.0.0/', undefined],
  ['::/129', undefined],
  ['fe80::1%eth0', undefined],
  ['10.0.0', undefined],
  ['a/8', undefined],
  ['10.0.0.0/8/8', undefined],
])('network %s', (text, cidr) => {
  expect(valueOf(parseCidr(text))).toBe(cidr);
});

test.each([
  ['redis://127.0.0.1:6379/0', true],
  ['rediss://user:pass@h:6380', true],
  ['redis://h/x', false],
  ['http://h', false],
  ['redis://', false],
  ['nothing', false],
])('Redis URL %s', (text, isValid) => {
  expect(parseRedisUrl(text).ok).toBe(isValid);
});

test.each([
  ['localhost:6379', true],
  ['[::1]:6379', true],
  ['h', false],
  ['h:0', false],
  ['h:99999', false],
  ['[x]:1', false],
])('host and port %s', (text, isValid) => {
  expect(parseHostPort(text).ok).toBe(isValid);
});
