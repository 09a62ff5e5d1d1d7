// `normalization.host_aliases.www`: one name for a site that answers with and without `www.`.
import { LIMITS } from '../limits.ts';
import type { NormalizationPolicy } from '../policy/policy.ts';

/**
 * Applies the option to a normalized host. Addresses, single-label names and names that `www.`
 * would
 * make too long are left alone.
 */
export function applyHostAlias(host: string, policy: Pick<NormalizationPolicy, 'www'>): string {
  if (policy.www === 'keep' || isAddress(host) || !host.includes('.')) return host;
  if (policy.www === 'add') return addWww(host);
  let bare = host;
  // Repeated, or www.www.example.com would need a second normalization; `www.com` stays a name.
  while (bare.startsWith('www.') && bare.slice(4).includes('.')) bare = bare.slice(4);
  return bare;
}

function addWww(host: string): string {
  const isLong = host.length + 'www.'.length > LIMITS.hostCharsMax;
  return host.startsWith('www.') || isLong ? host : `www.${host}`;
}

/** IPv6 in brackets, or dotted decimal: the only normalized hosts whose last label is a number. */
function isAddress(host: string): boolean {
  return host.startsWith('[') || /\.[0-9]+$/.test(host);
}
