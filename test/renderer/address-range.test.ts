// Which addresses a page may reach: the IANA registries as a table, and spellings that are no address.
import { describe, expect, test } from 'vitest';
import { isPublicAddress, parseIpv4, parseIpv6 } from '../../src/core/http/address-range.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '2003:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

const NOT_PUBLIC = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.255',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::127.0.0.1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:0:1::',
  '2001:10::1',
  '2001:1ff:ffff::',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

const NO_ADDRESS = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '08.8.8.8',
  '8.8.8',
  '8.8.8.8.8',
  '8.8.8.256',
  '8.8.8.8 ',
  '[2606:4700::1]',
  'fe80::1%eth0',
  '2606:4700::1::2',
  '2606:4700',
  '2606:4700:0:0:0:0:0:0:1',
  '2606:4700:0:0:0:0:0::1:1',
  ':2606:4700:0:0:0:0:0:1',
  '2606:47000::1',
  '1.1.1.1::',
  'g::1',
];

describe('an address', () => {
  test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
  test.each(NOT_PUBLIC)('%s is not', (address) => expect(isPublicAddress(address)).toBe(false));
  test.each(NO_ADDRESS)('"%s" is none', (text) => {
    expect(isPublicAddress(text)).toBe(false);
    expect(parseIpv4(text)).toBe(null);
    expect(parseIpv6(text)).toBe(null);
  });
  test.each([
    ['::', 16, '0'.repeat(32)],
    ['1::', 16, `0001${'0'.repeat(28)}`],
    ['::ffff:1.2.3.4', 16, `${'0'.repeat(20)}ffff01020304`],
    ['1:2:3:4:5:6:7:8', 16, '00010002000300040005000600070008'],
    ['A:b::C', 16, '000a000b00000000000000000000000c'],
  ])('%s is %i bytes', (text, length, hex) => {
    const bytes = parseIpv6(text) ?? [];
    expect(bytes).toHaveLength(length);
    expect(Buffer.from(bytes).toString('hex')).toBe(hex);
  });
});
