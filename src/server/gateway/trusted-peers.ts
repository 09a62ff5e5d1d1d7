// Whose X-Forwarded-* and X-Request-ID are believed: `server.trusted_proxies`, compiled once.
import { BlockList, isIP } from 'node:net';
import { plainAddress } from '../../core/http/client-address.ts';

/** @param networks addresses and CIDRs, validated when the configuration was loaded */
export function compileTrustedPeers(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/', 2);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  };
}
