// The names a host answers for, made canonical once at load time by the same code that normalizes
// the host of a URL. A wildcard needs at least two labels behind it: `*.com` is nobody's.
import { isIPv6 } from 'node:net';
import { err, ok, type Result } from '../../core/result.ts';
import { normalizeHost } from '../../core/url/normalize-host.ts';
import type { Fault } from '../config-node.ts';

const EXAMPLE = 'write the name only: example.com or "*.example.com"';

export function parseDomain(text: string): Result<string, Fault> {
  const trimmed = text.trim();
  if (trimmed === '') return err({ message: 'an empty domain', hint: EXAMPLE });
  if (trimmed.includes('://')) return err({ message: 'a domain has no scheme', hint: EXAMPLE });
  if (/[/\\?#]/.test(trimmed)) return err({ message: 'a domain has no path', hint: EXAMPLE });
  if (trimmed.includes('@')) return err({ message: 'a domain has no user name', hint: EXAMPLE });
  if (isIPv6(trimmed)) return normalized(`[${trimmed}]`);
  if (/:\d*$/.test(trimmed) && !trimmed.endsWith(']')) {
    return err({ message: 'a domain has no port', hint: 'remove the ":" and what follows it' });
  }
  if (!trimmed.includes('*')) return normalized(trimmed);
  const base = trimmed.startsWith('*.') ? trimmed.slice(2) : '*';
  if (base.includes('*')) {
    return err({ message: 'a "*" stands only for the first labels', hint: EXAMPLE });
  }
  const parent = normalized(base);
  if (!parent.ok) return parent;
  if (!parent.value.includes('.') || /\.\d+$/.test(parent.value)) {
    return err({
      message: 'a wildcard domain needs two labels or more behind its "*"',
      hint: EXAMPLE,
    });
  }
  return ok(`*.${parent.value}`);
}

function normalized(text: string): Result<string, Fault> {
  const host = normalizeHost(text);
  if (host.ok) return host;
  return err({ message: 'not a valid domain', hint: EXAMPLE });
}
