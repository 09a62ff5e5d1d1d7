// Which host a request is for: exact name first, then the longest `*.` suffix.
import type { HostPolicy } from '../policy/policy.ts';
import { applyHostAlias } from '../url/host-alias.ts';

export interface HostIndex {
  /** @param host normalized, without port (see normalizeHost) */
  readonly find: (host: string) => HostPolicy | null;
}

/** Builds the look-up once. Every host that is given is found: the caller leaves out the others. */
export function indexHosts(hosts: readonly HostPolicy[]): HostIndex {
  const exact = new Map<string, HostPolicy>();
  const suffixes = new Map<string, HostPolicy>();
  for (const host of hosts) {
    for (const domain of host.domains) {
      if (domain.startsWith('*.')) suffixes.set(domain.slice(2), host);
      else exact.set(domain, host);
    }
  }
  for (const host of hosts) {
    for (const domain of host.domains) addWwwAlias(exact, domain, host);
  }
  return {
    find: (name) => {
      const found = exact.get(name);
      if (found !== undefined || suffixes.size === 0) return found ?? null;
      for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
        const host = suffixes.get(name.slice(dot + 1));
        if (host !== undefined) return host;
      }
      return null;
    },
  };
}

/**
 * A host that answers for `www.` answers under both names, so that its canonical URL is its own.
 */
function addWwwAlias(exact: Map<string, HostPolicy>, domain: string, host: HostPolicy): void {
  if (domain.startsWith('*.') || !usesWwwAlias(host)) return;
  const bare = applyHostAlias(domain, { www: 'strip' });
  for (const name of [bare, applyHostAlias(bare, { www: 'add' })]) {
    if (!exact.has(name)) exact.set(name, host);
  }
}

/** Whether the host, or one of its rules, joins the names with and without `www.`. */
export function usesWwwAlias(host: HostPolicy): boolean {
  if (host.policy.normalization.www !== 'keep') return true;
  return host.rules.some((rule) => rule.policy.normalization.www !== 'keep');
}
