// Step 4, the host. WHATWG `URL` does IDNA (UTS 46), IPv4 in any spelling and IPv6 compression, and
// is used for nothing else: on paths and queries it would merge what must stay apart.
import { LIMITS } from '../limits.ts';
import { err, ok, type Result } from '../result.ts';
import type { UrlErrorKind } from './url-error.ts';

const HYPHEN = 0x2d;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_A = 0x61;
const LETTER_Z = 0x7a;
const TRAILING_DOTS = /\.+$/;
const PARSE_ROUNDS_MAX = 4;

/**
 * Normalizes a host name or address, without a port.
 *
 * @param text as written in an authority, percent-encoding and Unicode allowed
 * @returns the ASCII form: a name without trailing dots, `1.2.3.4`, or `[::1]`
 */
export function normalizeHost(text: string): Result<string, UrlErrorKind> {
  if (isPlainHost(text)) return ok(text);
  // No character outside ASCII has a lower case that is in it, but for those IDNA maps alike.
  const lowered = text.toLowerCase();
  if (isPlainHost(lowered)) return ok(lowered);
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

/**
 * Whether it is certainly in normal form, as nearly every host is: short labels of lower-case
 * letters, digits and inner hyphens, the last of which starts with a letter; no Punycode.
 */
function isPlainHost(text: string): boolean {
  if (text.length > LIMITS.hostCharsMax || text.includes('xn--')) return false;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isLowerAlphanumeric(code)) continue;
    const next = text.charCodeAt(at + 1);
    // A hyphen or a dot stands between two of them, or URL has to judge.
    if ((code !== DOT && code !== HYPHEN) || at === start || !isLowerAlphanumeric(next))
      return false;
    if (code === HYPHEN) continue;
    if (at - start > LIMITS.labelCharsMax) return false;
    start = at + 1;
  }
  const first = text.charCodeAt(start);
  return first >= LETTER_A && text.length - start <= LIMITS.labelCharsMax;
}

function isLowerAlphanumeric(code: number): boolean {
  return (code >= LETTER_A && code <= LETTER_Z) || (code >= DIGIT_0 && code <= DIGIT_9);
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
