// An IP address as a number, so that networks are compared by shifting. An IPv4 address that wears
// an IPv6 coat (`::ffff:192.0.2.1`, in either spelling) is the IPv4 address.
import { parseIpv4, parseIpv6 } from '../http/address-range.ts';

export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

const MAPPED_PREFIX = 0xffffn;
const IPV4_BITS = 32n;

/** Null for anything that is no address in its usual spelling. */
export function parseIpAddress(text: string): IpAddress | null {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== null) return { bits: 32, value: toNumber(ipv4) };
  const ipv6 = parseIpv6(text);
  if (ipv6 === null) return null;
  const value = toNumber(ipv6);
  return value >> IPV4_BITS === MAPPED_PREFIX
    ? { bits: 32, value: BigInt.asUintN(32, value) }
    : { bits: 128, value };
}

/** Whether two spellings name the same address; false when one names none. */
export function isSameAddress(a: string, b: string): boolean {
  const [one, other] = [parseIpAddress(a), parseIpAddress(b)];
  return one !== null && other !== null && one.bits === other.bits && one.value === other.value;
}

/** The name under which DNS keeps the names of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName({ bits, value }: IpAddress): string {
  const [width, radix, zone] = bits === 32 ? [8n, 10, 'in-addr.arpa'] : [4n, 16, 'ip6.arpa'];
  const labels: string[] = [];
  for (let shift = 0n; shift < BigInt(bits); shift += width) {
    labels.push(BigInt.asUintN(Number(width), value >> shift).toString(radix));
  }
  return [...labels, zone].join('.');
}

function toNumber(bytes: readonly number[]): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
