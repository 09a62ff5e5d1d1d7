// Addresses of proxies that are believed: `10.0.0.0/8`, `192.168.1.4`, `2001:db8::/32`.
import { isIP } from 'node:net';
import { err, ok, type Result } from '../../core/result.ts';
import type { Fault } from '../config-node.ts';

const EXAMPLE = 'write an address or a network: 10.0.0.0/8, 192.168.1.4, "2001:db8::/32"';

export function parseCidr(text: string): Result<string, Fault> {
  const trimmed = text.trim();
  const [address = '', bits, ...more] = trimmed.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) {
    return err({ message: 'not an address or network', hint: EXAMPLE });
  }
  if (bits === undefined) return ok(trimmed);
  const bitsMax = version === 4 ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > bitsMax) {
    return err({ message: `the prefix length is not between 0 and ${bitsMax}`, hint: EXAMPLE });
  }
  return ok(trimmed);
}
