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
 * Gives a Location that names an inner address the public one instead. The authority
 * decides, whatever the scheme: an inner address is no use to a client in any spelling.
 *
 * @param location absolute, scheme-relative or relative, as received
 * @param inner scheme, host and port by which only we know the server
 * @param outer what the client knows it by
 */
export function publishLocation(location: string, inner: readonly string[], outer: string): string {
  const named = splitAddress(location);
  if (named === null) return location;
  const isPublicName = named.authority === splitAddress(outer)?.authority;
  const isInner = inner.some((address) => {
    const known = splitAddress(address);
    if (known === null || known.authority !== named.authority) return false;
    // Known by the same name inside and outside: its redirect to HTTPS must stay one.
    return !isPublicName || known.scheme === named.scheme;
  });
  return isInner ? outer + named.rest : location;
}

/** The same for the URL in a `Refresh` field: `0; url=http://127.0.0.1:3000/`. */
export function publishRefresh(value: string, inner: readonly string[], outer: string): string {
  const parts = /^([\d.\s]*[;,\s]\s*(?:url\s*=\s*)?['"]?)(.*)$/i.exec(value);
  if (parts === null) return value;
  const [, delay = '', url = ''] = parts;
  return delay + publishLocation(url, inner, outer);
}

interface Address {
  /** Lower case; empty where the reference takes over the page's own. */
  readonly scheme: string;
  /** Lower case, without user and default port. */
  readonly authority: string;
  readonly rest: string;
}

function splitAddress(reference: string): Address | null {
  const parts = /^(?:([a-z][a-z0-9+.-]*):)?\/\/(?:[^/?#'"@]*@)?([^/?#'"]*)(.*)$/is.exec(reference);
  if (parts === null) return null;
  const [, scheme = '', authority = '', rest = ''] = parts;
  return {
    scheme: scheme.toLowerCase(),
    authority: authority.toLowerCase().replace(/:(?:80|443)?$/, ''),
    rest,
  };
}

function hasControl(text: string): boolean {
  return /[^ -~\u0080-\u{10ffff}]/u.test(text);
}

function percentBytes(bytes: Iterable<number>): string {
  let out = '';
  for (const byte of bytes) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}
