// Published lists of addresses: which are believed, and what is inside them. node:net's BlockList
// is the oracle for the look-up.
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameAddress, parseIpAddress, reverseName } from '../../src/core/bots/ip-address.ts';
import { compilePrefixes, parsePrefix } from '../../src/core/bots/prefix-set.ts';
import {
  compileRangeList,
  parsePublished,
  parseRangeFile,
} from '../../src/core/bots/range-list.ts';

function has(networks: readonly string[], address: string): boolean {
  const set = compilePrefixes(networks.flatMap((text) => parsePrefix(text) ?? []));
  const ip = parseIpAddress(address);
  return ip !== null && set.has(ip);
}

describe('a network', () => {
  test.each([
    ['192.0.2.0/24', '192.0.2.0', true],
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7/32', '192.0.2.8', false],
    // Host bits are no part of a network.
    ['192.0.2.77/24', '192.0.2.1', true],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:DB8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    // The coat of an IPv4 address, in both spellings, on either side.
    ['192.0.2.0/24', '::ffff:192.0.2.1', true],
    ['192.0.2.0/24', '::ffff:c000:201', true],
    ['::ffff:192.0.2.0/120', '192.0.2.1', true],
    ['::ffff:192.0.2.0/120', '192.0.3.1', false],
    // An IPv6 network never has an IPv4 address.
    ['2000::/3', '32.1.2.3', false],
    ['192.0.2.0/24', '192.0.2.1.5', false],
    ['192.0.2.0/24', '0300.0.2.1', false],
    ['192.0.2.0/24', 'fe80::1%eth0', false],
  ])('%s and %s: %s', (network, address, expected) => {
    expect(has([network], address)).toBe(expected);
  });

  test.each([
    '',
    'x',
    '192.0.2.0/33',
    '192.0.2.0/-1',
    '192.0.2.0/',
    '192.0.2.0/24/1',
    '2001:db8::/129',
    '192.0.2/24',
    '::ffff:192.0.2.0/90',
  ])('"%s" is none', (text) => expect(parsePrefix(text)).toBeNull());

  test('agrees with the oracle', () => {
    const octet = fc.integer({ min: 0, max: 3 });
    const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
    const network = fc.tuple(ipv4, fc.integer({ min: 1, max: 32 }));
    fc.assert(
      fc.property(fc.array(network, { maxLength: 8 }), ipv4, (networks, address) => {
        const oracle = new BlockList();
        for (const [text, length] of networks) oracle.addSubnet(text, length);
        const texts = networks.map(([text, length]) => `${text}/${length}`);
        expect(has(texts, address)).toBe(oracle.check(address));
      }),
      { numRuns: 500 },
    );
  });
});

test('two spellings of one address', () => {
  expect(isSameAddress('2001:db8::1', '2001:0DB8:0:0:0:0:0:1')).toBe(true);
  expect(isSameAddress('::ffff:192.0.2.1', '192.0.2.1')).toBe(true);
  expect(isSameAddress('::192.0.2.1', '192.0.2.1')).toBe(false);
  expect(isSameAddress('nothing', 'nothing')).toBe(false);
});

test.each([
  ['192.0.2.7', '7.2.0.192.in-addr.arpa'],
  ['::ffff:192.0.2.7', '7.2.0.192.in-addr.arpa'],
  ['2001:db8::1', `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`],
])('the reverse name of %s', (address, name) => {
  const ip = parseIpAddress(address);
  expect(ip && reverseName(ip)).toBe(name);
});

const GOOD =
  '{"creationTime":"2026-11-29T22:00:00.000000","prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}';

describe('a published list', () => {
  test('is read with its date', () => {
    const published = parsePublished(GOOD, 'prefixes');
    expect(published).toMatchObject({
      ok: true,
      value: { creationTime: '2026-11-29T22:00:00.000000' },
    });
    const file = parseRangeFile(GOOD);
    const list = file.ok ? compileRangeList(file.value) : file;
    expect(list.ok && list.value.prefixes.size).toBe(2);
    expect(list.ok && new Date(list.value.dateMs).getUTCFullYear()).toBe(2026);
  });

  test('may be a network a line', () => {
    const published = parsePublished('192.0.2.0/24\r\n# comment\n\n2001:db8::/32\n', 'lines');
    expect(published).toMatchObject({
      ok: true,
      value: { prefixes: [{ ipv4Prefix: '192.0.2.0/24' }, { ipv6Prefix: '2001:db8::/32' }] },
    });
  });

  test.each([
    ['no JSON', '<html>', 'not a JSON object'],
    ['an array', '[]', 'not a JSON object'],
    ['no prefixes', '{}', 'no list of prefixes'],
    ['an empty list', '{"prefixes":[]}', 'an empty list'],
    [
      'an unknown entry',
      '{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ip":"x"}]}',
      'entry 2 is no prefix',
    ],
    ['an entry that is none', '{"prefixes":[null]}', 'entry 1 is no prefix'],
    [
      'a bad network',
      '{"prefixes":[{"ipv4Prefix":"192.0.2.0/99"}]}',
      'not a network: 192.0.2.0/99',
    ],
    ['everything', '{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}', 'not a network: 0.0.0.0/0'],
    ['all of IPv6', '{"prefixes":[{"ipv6Prefix":"2000::/3"}]}', 'not a network: 2000::/3'],
  ])('is refused as a whole: %s', (_what, text, error) => {
    expect(parsePublished(text, 'prefixes')).toEqual({ ok: false, error });
  });

  test.each([
    ['', 'an empty list'],
    ['<html>\n', 'not a network: <html>'],
  ])('in lines is refused: "%s"', (text, error) => {
    expect(parsePublished(text, 'lines')).toEqual({ ok: false, error });
  });

  test('without a date can be no file', () => {
    const file = parseRangeFile('{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}');
    const error = 'neither fetchedAt nor creationTime is a date';
    expect(file.ok && compileRangeList(file.value)).toEqual({ ok: false, error });
  });
});
