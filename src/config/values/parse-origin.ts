// `http://127.0.0.1:3000`: scheme, host and port, nothing else. A path would be lost silently and
// credentials would end up in logs, so both are refused.

import { err, ok, type Result } from '../../core/result.ts';
import { normalizeHost } from '../../core/url/normalize-host.ts';
import type { Fault } from '../config-node.ts';

const EXAMPLE = 'write scheme, host and port only: http://127.0.0.1:3000';
const PARTS = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#\\]*)(.*)$/s;
const AUTHORITY = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d*))?$/;

/** Parses an origin into its canonical URL, without a trailing slash. */
export function parseOrigin(text: string): Result<string, Fault> {
  const match = PARTS.exec(text.trim());
  if (match === null) return err({ message: 'it needs http:// or https://', hint: EXAMPLE });
  const [, scheme = '', authority = '', rest = ''] = match;
  const protocol = scheme.toLowerCase();
  if (protocol !== 'http' && protocol !== 'https') {
    return err({ message: `it can't use ${protocol}:`, hint: EXAMPLE });
  }
  if (authority.includes('@')) {
    return err({
      message: 'credentials do not belong here',
      hint: 'remove the part before the "@"',
    });
  }
  if (rest !== '' && rest !== '/') {
    return err({ message: 'a path, query or fragment does not belong here', hint: EXAMPLE });
  }
  const parts = AUTHORITY.exec(authority);
  const host = normalizeHost(parts?.[1] ?? '');
  if (parts === null || !host.ok) return err({ message: 'it has no valid host', hint: EXAMPLE });
  const port = parts[2] ?? '';
  if (Number(port) > 65_535 || (port !== '' && Number(port) === 0)) {
    return err({ message: `port ${Number(port)} is not between 1 and 65535`, hint: EXAMPLE });
  }
  return ok(`${protocol}://${host.value}${port === '' ? '' : `:${Number(port)}`}`);
}

/** Base URL of a render service: as an origin, and a path may follow. */
export function parseServiceUrl(text: string): Result<string, Fault> {
  const match = PARTS.exec(text.trim());
  const path = match?.[3] ?? '';
  if (match !== null && /[?#]/.test(path)) {
    return err({ message: 'a service URL with a query or fragment', hint: EXAMPLE });
  }
  const origin = parseOrigin(text.trim().slice(0, text.trim().length - path.length));
  return origin.ok ? ok(`${origin.value}${path.replace(/\/+$/, '')}`) : origin;
}
