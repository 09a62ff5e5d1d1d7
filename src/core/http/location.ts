// A Location that can be written on the wire: percent-encoded where it isn't ASCII, refused where
// it holds a control character, and never naming an address that only we know.

/** `Location` text from a page, as UTF-8: percent-encoded, or null for CR, LF, NUL and the like. */
export function encodeLocation(text: string): string | null {
  if (hasControl(text)) return null;
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const encoder = new TextEncoder();
  return trimmed.replace(/ |[\u0080-\u{10ffff}]+/gu, (part) => percentBytes(encoder.encode(part)));
}

/** The same for header bytes read as latin1: each byte above ASCII becomes its own escape. */
export function encodeLatin1Location(text: string): string | null {
  if (hasControl(text)) return null;
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return trimmed.replace(/[ \u0080-\u00ff]/g, (char) => percentBytes([char.charCodeAt(0)]));
}

/**
 * Gives a Location that names an inner address the public one instead (cases A9, B8).
 *
 * @param location absolute or relative, as received
 * @param inner scheme, host and port by which only we know the server
 * @param outer what the client knows it by
 */
export function publishLocation(location: string, inner: readonly string[], outer: string): string {
  for (const address of inner) {
    const rest = location.slice(address.length);
    const isInner = location.slice(0, address.length).toLowerCase() === address.toLowerCase();
    if (isInner && (rest === '' || /^[/?#]/.test(rest))) return outer + rest;
  }
  return location;
}

function hasControl(text: string): boolean {
  return /[^ -~\u0080-\u{10ffff}]/u.test(text);
}

function percentBytes(bytes: Iterable<number>): string {
  let out = '';
  for (const byte of bytes) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}
