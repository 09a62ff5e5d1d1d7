// Step 5, the text of a path, for whoever has one that is no part of a URL yet.
import { encodePart, PATH } from './encode-part.ts';
import { spellOut } from './percent-encoding.ts';

/**
 * Gives every path one spelling: triplets of unreserved characters decoded, the rest upper-case.
 */
export function encodePathText(path: string): string {
  const ascii = spellOut(path);
  return encodePart(ascii, 0, ascii.length, PATH);
}

/**
 * Puts a path pattern of the configuration through the same encoder, so that `/über` and
 * `/%C3%BCber` are one pattern. A regexp is matched as it was written.
 */
export function encodePathPattern(source: string): string {
  return source.startsWith('~') ? source : encodePathText(source);
}
