// Many networks as one look-up: a set of numbers for each prefix length, so that an address costs
// one look-up a length and not one a network.
import { type IpAddress, parseIpAddress } from './ip-address.ts';

export interface PrefixSet {
  readonly has: (address: IpAddress) => boolean;
  readonly size: number;
}

export interface Prefix {
  readonly bits: IpAddress['bits'];
  readonly length: number;
  /** The address without its host part. */
  readonly network: bigint;
}

/** `192.0.2.0/24`, `2001:db8::/32`, or a single address; null for anything else. */
export function parsePrefix(text: string): Prefix | null {
  const [addressText = '', lengthText, ...others] = text.split('/');
  const address = parseIpAddress(addressText);
  if (address === null || others.length > 0) return null;
  if (lengthText === undefined) {
    return { bits: address.bits, length: address.bits, network: address.value };
  }
  if (!/^[0-9]{1,3}$/.test(lengthText)) return null;
  // The length of a mapped network counts the coat's 96 bits.
  const isMapped = address.bits === 32 && addressText.includes(':');
  const length = Number(lengthText) - (isMapped ? 96 : 0);
  if (length > address.bits || length < 0) return null;
  return { bits: address.bits, length, network: cut(address, length) };
}

export function compilePrefixes(prefixes: readonly Prefix[]): PrefixSet {
  const byLength = new Map<string, { readonly prefix: Prefix; readonly networks: Set<bigint> }>();
  for (const prefix of prefixes) {
    const key = `${prefix.bits}/${prefix.length}`;
    const known = byLength.get(key);
    if (known === undefined) byLength.set(key, { prefix, networks: new Set([prefix.network]) });
    else known.networks.add(prefix.network);
  }
  const lengths = [...byLength.values()];
  return {
    size: prefixes.length,
    has: (address) =>
      lengths.some(
        ({ prefix, networks }) =>
          prefix.bits === address.bits && networks.has(cut(address, prefix.length)),
      ),
  };
}

function cut({ bits, value }: IpAddress, length: number): bigint {
  return value >> BigInt(bits - length);
}
