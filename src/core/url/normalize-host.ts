// Step 4, the host. WHATWG `URL` does IDNA (UTS 46), IPv4 in any spelling and IPv6 compression, and
// is used for nothing else: on paths and queries it would merge what must stay apart.
import { LIMITS } from '../limits.ts';
import { err, ok, type Result } from '../result.ts';
import type { UrlErrorKind } from './url-error.ts';

/** Lower-case labels whose last one starts with a letter: already in normal form. */
const PLAIN_HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?$/;
const TRAILING_DOTS = /\.+$/;
const PARSE_ROUNDS_MAX = 4;

/**
 * Normalizes a host name or address, without a port.
 *
 * @param text as written in an authority, percent-encoding and Unicode allowed
 * @returns the ASCII form: a name without trailing dots, `1.2.3.4`, or `[::1]`
 */
export function normalizeHost(text: string): Result<string, UrlErrorKind> {
  if (PLAIN_HOST.test(text) && !text.includes('xn--')) return checkLengths(text);
  let host = text;
  // Decoding can bring up new dots (`%2e`, U+3002), and a host without them may be an address.
  for (let round = 0; round < PARSE_ROUNDS_MAX; round += 1) {
    const parsed = parseHost(host.replace(TRAILING_DOTS, ''));
    if (!parsed.ok) return parsed;
    if (parsed.value === host) return checkLengths(host);
    host = parsed.value;
  }
  return err('invalid_host');
}

function parseHost(text: string): Result<string, UrlErrorKind> {
  if (text === '') return err('missing_host');
  if (text.startsWith('[') !== text.endsWith(']')) return err('invalid_host');
  // These end or split the authority for `URL`, which must only ever see a host.
  if (/[/\\?#@]/.test(text) || (text.includes(':') && !text.startsWith('['))) {
    return err('invalid_host');
  }
  if (!URL.canParse(`http://${text}/`)) return err('invalid_host');
  const host = new URL(`http://${text}/`).hostname;
  return host === '' ? err('missing_host') : ok(host);
}

function checkLengths(host: string): Result<string, UrlErrorKind> {
  if (host.startsWith('[')) return ok(host);
  if (host.length > LIMITS.hostCharsMax) return err('invalid_host');
  for (const label of host.split('.')) {
    if (label === '' || label.length > LIMITS.labelCharsMax) return err('invalid_host');
  }
  return ok(host);
}
