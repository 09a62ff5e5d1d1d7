// Percent-encoding, RFC 3986 §2. Decoded text is a "byte string": one character per byte, so that
// any byte survives (also what is not UTF-8) and comparing strings compares bytes.
import { IS_RESERVED, kindOf } from './byte-kinds.ts';

const HEX = '0123456789ABCDEF';

/** `%XX` for every byte value, upper-case. */
export const TRIPLETS: readonly string[] = Array.from(
  { length: 256 },
  (_unused, byte) => `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`,
);

/** Whether the code is one of `A-Z a-z 0-9 - . _ ~`, RFC 3986 §2.3. */
export function isUnreserved(code: number): boolean {
  return (kindOf(code) & IS_RESERVED) === 0;
}

/** Value of a hexadecimal digit's char code, or -1. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** The byte of the triplet at `at`, or -1 where `%` starts none. */
export function tripletAt(text: string, at: number): number {
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

/** Writes what is not ASCII as the triplets of its UTF-8 form; a lone surrogate as U+FFFD. */
export function spellOut(text: string): string {
  let spelled = '';
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) < 0x80) continue;
    const point = text.codePointAt(at) ?? 0;
    spelled += text.slice(copied, at) + spellPoint(point);
    if (point > 0xffff) at += 1;
    copied = at + 1;
  }
  return copied === 0 ? text : spelled + text.slice(copied);
}

/** The triplets of a code point outside ASCII. */
function spellPoint(point: number): string {
  const last = triplet(0x80 | (point & 0x3f));
  if (point < 0x800) return triplet(0xc0 | (point >> 6)) + last;
  if (point >= 0xd800 && point < 0xe000) return '%EF%BF%BD';
  const third = triplet(0x80 | ((point >> 6) & 0x3f));
  if (point < 0x10000) return triplet(0xe0 | (point >> 12)) + third + last;
  const second = triplet(0x80 | ((point >> 12) & 0x3f));
  return triplet(0xf0 | (point >> 18)) + second + third + last;
}

function triplet(byte: number): string {
  return TRIPLETS[byte] ?? '';
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
