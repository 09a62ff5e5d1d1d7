// What each byte can be in a URL, as one look-up: scanners go over the bytes once and stop at the
// kinds they were told to, without an expression or a piece of text.

export const HASH = 0x23;
export const QUESTION = 0x3f;
export const SLASH = 0x2f;
export const COLON = 0x3a;
export const EQUALS = 0x3d;
export const AMPERSAND = 0x26;

/** C0 and DEL, which no URL may have in it. */
export const IS_CONTROL = 1;
/** `/`: the scheme may end. */
export const IS_SLASH = 2;
/** `/` and `\`: the authority ends. */
export const ENDS_AUTHORITY = 4;
/** `?` and `#`: the path ends. */
export const ENDS_PATH = 8;
/** `&` and `#`: the pair ends. */
export const ENDS_PAIR = 16;
/** `/` and `.`: behind a slash they make the path another one. */
export const MAY_STEP = 32;
/** Not to be written in a path as it is: what isn't pchar (RFC 3986 §3.3) or `/`, and `%`. */
export const IS_ODD_IN_PATH = 64;
/** Anything but `A-Z a-z 0-9 - . _ ~`, RFC 3986 §2.3. */
export const IS_RESERVED = 128;
/** Not fit for the wire: spaces, control characters and what is not ASCII. */
export const IS_UNSAFE = 256;

const KINDS = Uint16Array.from({ length: 256 }, (_unused, byte) => {
  const char = String.fromCharCode(byte);
  return (
    (byte < 0x20 || byte === 0x7f ? IS_CONTROL : 0) |
    (/[/\\]/.test(char) ? ENDS_AUTHORITY : 0) |
    (/[?#]/.test(char) ? ENDS_PATH : 0) |
    (/[A-Za-z0-9\-._~!$&'()*+,;=:@/]/.test(char) ? 0 : IS_ODD_IN_PATH) |
    (/[A-Za-z0-9\-._~]/.test(char) ? 0 : IS_RESERVED) |
    (byte < 0x21 || byte > 0x7e ? IS_UNSAFE : 0) |
    (/[&#]/.test(char) ? ENDS_PAIR : 0) |
    (char === '/' ? IS_SLASH : 0) |
    (/[/.]/.test(char) ? MAY_STEP : 0)
  );
});

/** The kinds of a byte. */
export function kindsOf(byte: number | undefined): number {
  return KINDS[byte ?? 0] ?? 0;
}

/** Where the first byte of one of the kinds is; one must be there. */
export function skipTo(bytes: Uint8Array, from: number, kinds: number): number {
  let at = from;
  while ((kindsOf(bytes[at]) & kinds) === 0) at += 1;
  return at;
}
