// Who the client is, when proxies that we trust stand in front of us. The rightmost address that is
// not a trusted proxy wins: what is left of it was written by someone we have no reason to believe.
import { listMembers } from './hop-headers.ts';

/** Hops looked at before we stop believing the list: no real chain is this long. */
const HOPS_MAX = 32;

/** Anything an address can consist of; what fails it is not an address but somebody's text. */
const ADDRESS = /^[0-9a-f.:]{2,45}$/i;

/**
 * The address of the client behind the trusted proxies.
 *
 * @param peerAddress the other end of our connection
 * @param forwardedFor the `X-Forwarded-For` lines, in order
 * @param isTrusted whether an address is one of the configured proxies
 */
export function clientAddress(
  peerAddress: string,
  forwardedFor: readonly string[],
  isTrusted: (address: string) => boolean,
): string {
  let address = plainAddress(peerAddress);
  const hops = listMembers(forwardedFor).slice(-HOPS_MAX).reverse();
  for (const hop of hops) {
    if (!isTrusted(address)) return address;
    const next = plainAddress(stripPort(hop));
    if (!ADDRESS.test(next)) return address;
    address = next;
  }
  return address;
}

/** An IPv4 address that a dual-stack socket shows as `::ffff:192.0.2.1` in its own form. */
export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}

/** `192.0.2.1:5678` and `[2001:db8::1]:5678` are both seen in the wild. */
function stripPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1];
  if (bracketed !== undefined) return bracketed;
  return /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
}
