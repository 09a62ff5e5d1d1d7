// The header rules of both directions, and who the client is, as tables.
import { describe, expect, it } from 'vitest';
import { clientAddress } from '../../src/core/http/client-address.ts';
import { isLoop, publicScheme, viaMember } from '../../src/core/http/forwarded.ts';
import { forwardableTrailers, hopNames } from '../../src/core/http/hop-headers.ts';

describe('clientAddress', () => {
  const isTrusted = (address: string): boolean => address.startsWith('10.') || address === '::1';
  it.each([
    ['a stranger is believed nothing', '192.0.2.1', ['203.0.113.9'], '192.0.2.1'],
    ['one proxy', '10.0.0.1', ['203.0.113.9'], '203.0.113.9'],
    ['two proxies', '10.0.0.1', ['203.0.113.9, 10.0.0.2'], '203.0.113.9'],
    ['the rightmost stranger', '10.0.0.1', ['127.0.0.1, 203.0.113.9'], '203.0.113.9'],
    ['several lines', '10.0.0.1', ['127.0.0.1', '203.0.113.9', '10.0.0.2'], '203.0.113.9'],
    ['only proxies: the farthest', '10.0.0.1', ['10.0.0.3, 10.0.0.2'], '10.0.0.3'],
    ['no list', '10.0.0.1', [], '10.0.0.1'],
    ['text that is no address', '10.0.0.1', ['unknown'], '10.0.0.1'],
    ['nonsense behind a proxy', '10.0.0.1', ['<script>, 10.0.0.2'], '10.0.0.2'],
    ['IPv4 in IPv6', '::ffff:10.0.0.1', ['::ffff:203.0.113.9'], '203.0.113.9'],
    ['ports', '::1', ['203.0.113.9:4711'], '203.0.113.9'],
    ['bracketed IPv6 with a port', '::1', ['[2001:db8::1]:4711'], '2001:db8::1'],
    ['empty members', '10.0.0.1', [' , ,203.0.113.9,, '], '203.0.113.9'],
  ])('%s', (_what, peer, forwardedFor, expected) => {
    expect(clientAddress(peer, forwardedFor, isTrusted)).toBe(expected);
  });

  it('looks at a bounded number of hops', () => {
    const hops = Array.from({ length: 100_000 }, () => '10.0.0.9').join(',');
    expect(clientAddress('10.0.0.1', [`203.0.113.9,${hops}`], isTrusted)).toBe('10.0.0.9');
  });
});

describe('publicScheme (B1, B2)', () => {
  it.each([
    [true, ['https'], 'http', 'https'],
    [true, ['https, http'], 'http', 'https'],
    [true, ['HTTP'], 'https', 'http'],
    [true, ['javascript, http'], 'https', 'http'],
    [true, ['httpss', ''], 'https', 'https'],
    [true, [], 'https', 'https'],
    [false, ['http'], 'https', 'https'],
  ] as const)('trusted %s, %j, configured %s: %s', (isTrustedPeer, values, scheme, expected) => {
    expect(publicScheme(values, { isTrustedPeer, scheme })).toBe(expected);
  });
});

describe('Via', () => {
  it.each([
    [['1.1 me'], true],
    [['1.1 a, HTTP/1.1 ME:80, 1.1 b'], false],
    [['1.0 a', '2 Me (comment)'], true],
    [['1.1 me2'], false],
    [['me'], false],
    [[], false],
    [[',,'], false],
  ])('%j is a loop: %s', (values, expected) => {
    expect(isLoop(values, 'me')).toBe(expected);
  });

  it.each([
    ['1.1', '1.1 me'],
    ['1.0', '1.0 me'],
    ['2.0', '2 me'],
  ])('HTTP/%s is written %s', (version, expected) => {
    expect(viaMember(version, 'me')).toBe(expected);
  });
});

describe('hop-by-hop fields', () => {
  it('are the fixed ones and those nominated, but never framing or routing', () => {
    const names = hopNames([
      'connection',
      'X-A, close',
      'Connection',
      ' x-b ,Content-Length, Host',
    ]);
    expect(
      ['x-a', 'x-b', 'keep-alive', 'te', 'upgrade', 'proxy-connection'].every((n) => names.has(n)),
    ).toBe(true);
    expect(['content-length', 'host', 'x-c'].some((name) => names.has(name))).toBe(false);
  });

  it('and framing, routing or credentials are no trailers', () => {
    expect(
      forwardableTrailers([
        'X-Sum',
        '1',
        'Content-Length',
        '9',
        'Host',
        'x',
        'Authorization',
        'y',
        'x-sum',
        '2',
      ]),
    ).toEqual([
      ['X-Sum', '1'],
      ['x-sum', '2'],
    ]);
  });
});
