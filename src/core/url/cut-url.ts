// Step 2: where the parts of a URL end, decoding nothing. Positions are those of its bytes, behind
// which there is one `#` more: no loop has to ask whether it is at the end.
import {
  COLON,
  ENDS_AUTHORITY,
  ENDS_PATH,
  IS_CONTROL,
  IS_ODD_IN_PATH,
  IS_SLASH,
  kindsOf,
  MAY_STEP,
  SLASH,
  skipTo,
} from './byte-kinds.ts';

const SPACE = 0x20;
const ENDS_SITE = ENDS_AUTHORITY | ENDS_PATH | IS_CONTROL;

/** Where the path begins: at a slash, or at what browsers take for one. */
export function findSiteEnd(bytes: Uint8Array): number {
  const at = skipTo(bytes, 0, IS_SLASH | ENDS_PATH | IS_CONTROL);
  const isDouble = bytes[at] === SLASH && bytes[at + 1] === SLASH;
  // A `://` after the first slash is path text, not a scheme.
  const isScheme = isDouble && (at === 0 || bytes[at - 1] === COLON);
  return skipTo(bytes, isScheme ? at + 2 : 0, ENDS_SITE);
}

/** Whether the site ends here. */
export function endsSite(byte: number | undefined): boolean {
  return (kindsOf(byte) & ENDS_SITE) !== 0;
}

/**
 * Up to where a path is in its one spelling: nothing to encode, to collapse or to resolve. That is
 * its end, or before.
 */
export function skipCanonicalPath(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== SLASH) return from;
  let at = from + 1;
  for (; ; at += 1) {
    const kinds = kindsOf(bytes[at]) & (IS_ODD_IN_PATH | MAY_STEP);
    if (kinds === 0) continue;
    if ((kinds & IS_ODD_IN_PATH) !== 0 || bytes[at - 1] === SLASH) return at;
  }
}

/** @param rest a URL from its path on */
export function pathOf(rest: string): string {
  return rest.split(/[?#]/, 1)[0] ?? '';
}

/** The query of a text, as it was written; empty where there is none. */
export function queryOf(text: string): string {
  const hashAt = text.indexOf('#');
  const end = hashAt === -1 ? text.length : hashAt;
  const queryAt = text.indexOf('?');
  return queryAt === -1 || queryAt > end ? '' : text.slice(queryAt + 1, end);
}

/** Without the spaces around it. */
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) === SPACE) start += 1;
  while (end > start && text.charCodeAt(end - 1) === SPACE) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}
