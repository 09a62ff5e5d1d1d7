// Step 5, one pass over the text of a path. Reserved characters stay as they were written, so `%2F`
// is never `/`, and nothing is decoded twice.
import { isUnreserved, TRIPLETS, toByteString, tripletAt } from './percent-encoding.ts';

/** Legal in a path as they are: pchar (RFC 3986 §3.3) and `/`, without `%`. */
const PLAIN_PATH = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
const LEGAL: readonly boolean[] = Array.from({ length: 256 }, (_unused, byte) =>
  PLAIN_PATH.test(String.fromCharCode(byte)),
);

/**
 * Gives every path one spelling: triplets of unreserved characters decoded, the rest upper-case.
 */
export function encodePathText(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  const bytes = toByteString(path);
  let encoded = '';
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes.charCodeAt(at);
    if (code === 0x5c) {
      encoded += '/';
    } else if (code === 0x25) {
      const byte = tripletAt(bytes, at);
      if (byte === -1) {
        encoded += '%25';
        continue;
      }
      encoded += isUnreserved(byte) ? String.fromCharCode(byte) : TRIPLETS[byte];
      at += 2;
    } else {
      encoded += LEGAL[code] === true ? bytes.charAt(at) : TRIPLETS[code];
    }
  }
  return encoded;
}

/**
 * Puts a path pattern of the configuration through the same encoder, so that `/über` and
 * `/%C3%BCber` are one pattern. A regexp is matched as it was written.
 */
export function encodePathPattern(source: string): string {
  return source.startsWith('~') ? source : encodePathText(source);
}
