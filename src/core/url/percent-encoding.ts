// Percent-encoding, RFC 3986 §2. Decoded text is a "byte string": one character per byte, so that
// any byte survives (also what is not UTF-8) and comparing strings compares bytes.
import { IS_RESERVED, kindsOf } from './byte-kinds.ts';

const HEX = '0123456789ABCDEF';

/** `%XX` for every byte value, upper-case. */
export const TRIPLETS: readonly string[] = Array.from(
  { length: 256 },
  (_unused, byte) => `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`,
);

/** Whether the byte is one of `A-Z a-z 0-9 - . _ ~`, RFC 3986 §2.3. */
function isUnreserved(byte: number): boolean {
  return (kindsOf(byte) & IS_RESERVED) === 0;
}

/** Value of a hexadecimal digit's char code, or -1. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** The byte of the triplet at `at`, or -1 where `%` starts none. */
function tripletAt(text: string, at: number): number {
  if (at + 2 >= text.length) return -1;
  const high = hexValue(text.charCodeAt(at + 1));
  const low = hexValue(text.charCodeAt(at + 2));
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

const NON_ASCII = /[^\u0000-\u007f]/;

/** Text → byte string of its UTF-8 form. A lone surrogate becomes U+FFFD, as in every encoder. */
export function toByteString(text: string): string {
  if (!NON_ASCII.test(text)) return text;
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

/** Bytes → byte string. */
export function byteString(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at += 1) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

/** A byte order mark is a character of a name like any other. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Byte string → text, for matching patterns; bytes that are not UTF-8 become U+FFFD. */
export function toText(bytes: string): string {
  if (!NON_ASCII.test(bytes)) return bytes;
  return UTF8.decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
}

/** Encodes everything but unreserved characters. */
export function encodeBytes(bytes: string): string {
  let at = 0;
  while (at < bytes.length && isUnreserved(bytes.charCodeAt(at))) at += 1;
  if (at === bytes.length) return bytes;
  let encoded = bytes.slice(0, at);
  for (; at < bytes.length; at += 1) {
    const code = bytes.charCodeAt(at);
    encoded += isUnreserved(code) ? bytes.charAt(at) : TRIPLETS[code];
  }
  return encoded;
}

/** Makes a byte string fit for a URL on the wire: only spaces and bytes above ASCII change. */
export function encodeUnsafe(bytes: string): string {
  return bytes.replace(/[^\u0021-\u007e]/g, (char) => TRIPLETS[char.charCodeAt(0)] ?? char);
}

/**
 * Form-decodes a byte string: triplets become bytes, a stray `%` is itself.
 *
 * @param plusIsSpace whether `+` is a space, as form decoders read it
 */
export function decodeForm(bytes: string, plusIsSpace: boolean): string {
  let decoded = '';
  let copied = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes.charCodeAt(at);
    if (code === 0x2b && plusIsSpace) {
      decoded += `${bytes.slice(copied, at)} `;
      copied = at + 1;
    } else if (code === 0x25) {
      const byte = tripletAt(bytes, at);
      if (byte === -1) continue;
      decoded += bytes.slice(copied, at) + String.fromCharCode(byte);
      at += 2;
      copied = at + 1;
    }
  }
  return copied === 0 ? bytes : decoded + bytes.slice(copied);
}
