// The host that a person names: of a purge, of `verify`.
import type { HostPolicy } from '../policy/policy.ts';
import { normalizeHost } from '../url/normalize-host.ts';

/** By id, or by domain in any spelling. */
export function findNamedHost(name: string, hosts: readonly HostPolicy[]): HostPolicy | undefined {
  // A wildcard is no host name; it is compared as it is configured.
  const normal = normalizeHost(name);
  const domain = normal.ok ? normal.value : name.toLowerCase();
  return hosts.find(({ id, domains }) => String(id) === name || domains.includes(domain));
}
