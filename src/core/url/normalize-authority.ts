// Step 4: authority → host and port. Anything with an `@` is refused: a URL that carries
// credentials must never become a shared cache key.
import { err, ok, type Result } from '../result.ts';
import { normalizeHost } from './normalize-host.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

export interface Authority {
  readonly host: string;
  /** Decimal digits without leading zeros; empty for the scheme's default port. */
  readonly port: string;
}

const DEFAULT_PORTS = { http: '80', https: '443' } as const;

export function normalizeAuthority(
  authority: string,
  scheme: 'http' | 'https',
  trace: Trace | null,
): Result<Authority, UrlErrorKind> {
  if (authority.includes('@')) return err('credentials');
  const portAt = findPort(authority);
  const hostText = portAt === -1 ? authority : authority.slice(0, portAt);
  if (hostText === '') return err('missing_host');
  const host = normalizeHost(hostText);
  if (!host.ok) return host;
  const written = portAt === -1 ? '' : authority.slice(portAt);
  const port = normalizePort(written.slice(1), scheme);
  if (!port.ok) return port;
  recordStep(trace, 'host', hostText, host.value);
  recordStep(trace, 'port', written, port.value === '' ? '' : `:${port.value}`);
  return ok({ host: host.value, port: port.value });
}

/** Where the `:` of the port is; inside the brackets of an IPv6 address a colon is no port. */
function findPort(authority: string): number {
  if (!authority.startsWith('[')) return authority.indexOf(':');
  const closing = authority.indexOf(']');
  return closing === -1 ? -1 : authority.indexOf(':', closing);
}

/** Digits up to 65535; the scheme's default becomes the empty text, also as `:0443` or `:`. */
export function normalizePort(
  digits: string,
  scheme: 'http' | 'https',
): Result<string, UrlErrorKind> {
  if (digits === '') return ok('');
  if (!/^[0-9]+$/.test(digits)) return err('invalid_port');
  const port = digits.replace(/^0+(?=[0-9])/, '');
  if (port.length > 5 || Number(port) > 65_535) return err('invalid_port');
  return ok(port === DEFAULT_PORTS[scheme] ? '' : port);
}
