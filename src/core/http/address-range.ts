// Which addresses belong to the public internet. Everything else is refused to a rendered page:
// what is private, local, reserved, or a public-looking wrapper around an IPv4 address (mapped,
// 6to4, NAT64, Teredo). By the IANA special-purpose registries; IPv6 is allowed, not denied, by
// range, so that what they add later is refused until it is known.

type Prefix = readonly [address: string, bits: number];

const NOT_PUBLIC_IPV4: readonly Prefix[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // The virtual machine host of one cloud: a metadata service at a public address.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const PUBLIC_IPV6: Prefix = ['2000::', 3];
const NOT_PUBLIC_IPV6: readonly Prefix[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** Whether the text is an IP address that a page may be allowed to reach. */
export function isPublicAddress(text: string): boolean {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== null) return !NOT_PUBLIC_IPV4.some((prefix) => isInside(ipv4, prefix));
  const ipv6 = parseIpv6(text);
  if (ipv6 === null || !isInside(ipv6, PUBLIC_IPV6)) return false;
  return !NOT_PUBLIC_IPV6.some((prefix) => isInside(ipv6, prefix));
}

/** Four bytes of a dotted quad in its one canonical spelling, or null. */
export function parseIpv4(text: string): readonly number[] | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  const bytes = parts.map((part) => (/^(0|[1-9][0-9]{0,2})$/.test(part) ? Number(part) : 256));
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** Sixteen bytes of an IPv6 address without brackets or zone (RFC 4291 §2.2), or null. */
export function parseIpv6(text: string): readonly number[] | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const last = halves.length - 1;
  // Only the end of an address may be written as IPv4.
  const [head, tail] = halves.map((half, index) => parseGroups(half, index === last));
  if (head === undefined || head === null || tail === null) return null;
  if (tail === undefined) return head.length === 16 ? head : null;
  const missing = 16 - head.length - tail.length;
  // "::" stands for at least one group.
  if (missing < 2) return null;
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

function parseGroups(text: string, isEnd: boolean): readonly number[] | null {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const ipv4 = isEnd && index === groups.length - 1 ? parseIpv4(group) : null;
    if (ipv4 !== null) bytes.push(...ipv4);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 0xff);
    } else return null;
  }
  return bytes;
}

function isInside(bytes: readonly number[], [address, bits]: Prefix): boolean {
  const network = parseIpv4(address) ?? parseIpv6(address) ?? [];
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - bit)));
    const index = bit / 8;
    if (((bytes[index] ?? 0) & mask) !== ((network[index] ?? 0) & mask)) return false;
  }
  return true;
}
