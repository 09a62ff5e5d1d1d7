// Step 5, the text of a path, for whoever has one that is no part of a URL yet.
import { HASH } from './byte-kinds.ts';
import { createSheet, PATH } from './sheet.ts';

const UTF8 = new TextEncoder();

/**
 * Gives every path one spelling: triplets of unreserved characters decoded, the rest upper-case.
 */
export function encodePathText(path: string): string {
  const bytes = UTF8.encode(path);
  const sheet = createSheet();
  sheet.start(Uint8Array.of(...bytes, HASH));
  sheet.encode(0, bytes.length, PATH);
  return sheet.read();
}

/**
 * Puts a path pattern of the configuration through the same encoder, so that `/über` and
 * `/%C3%BCber` are one pattern. A regexp is matched as it was written.
 */
export function encodePathPattern(source: string): string {
  return source.startsWith('~') ? source : encodePathText(source);
}
