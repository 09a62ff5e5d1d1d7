// The strict reading of `Host` (RFC 9110 §7.2): a name or address and a port, nothing else. Node
// passes userinfo, spaces, paths and bad ports through, and a host decides about key, origin and
// redirects, so what isn't plainly one authority is refused and never repaired.
import { isIPv6 } from 'node:net';
import { LIMITS } from '../../core/limits.ts';

export interface Authority {
  /** Lower case; IPv6 keeps its brackets. */
  readonly name: string;
  readonly port: number | null;
}

const PORT_MAX = 65_535;
const LABEL = /^[a-z0-9_-]+$/;

/** Reads one `Host` value, or null where it isn't exactly `name[:port]`. */
export function parseAuthority(value: string): Authority | null {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, '');
  const parts = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(trimmed);
  if (parts === null) return null;
  const name = (parts[1] ?? '').toLowerCase();
  const port = parts[2] === undefined ? null : Number(parts[2]);
  if (port !== null && port > PORT_MAX) return null;
  const isName = name.startsWith('[') ? isBracketedIpv6(name) : isRegisteredName(name);
  return isName ? { name, port } : null;
}

/** No zone id: it means something only on the machine that wrote it (RFC 9110 §4.2.4). */
function isBracketedIpv6(name: string): boolean {
  return !name.includes('%') && isIPv6(name.slice(1, -1));
}

function isRegisteredName(name: string): boolean {
  const withoutRootDot = name.endsWith('.') ? name.slice(0, -1) : name;
  if (withoutRootDot.length > LIMITS.hostCharsMax) return false;
  return withoutRootDot
    .split('.')
    .every((label) => label.length <= LIMITS.labelCharsMax && LABEL.test(label));
}
