// What a URL is written on: bytes, made a text once at the end, which costs less than joining
// pieces as soon as there are several. Percent-encoding happens on the way, in one pass: every
// spelling becomes the one that a canonical URL has, and nothing is decoded twice.
import { IS_ODD_IN_PATH, IS_RESERVED, IS_UNSAFE, kindsOf } from './byte-kinds.ts';

/** How one part of a URL is written. */
export interface PartRules {
  /** Kinds of bytes that can't stay as they are (see byte-kinds). */
  readonly changed: number;
  /** A byte that means another one here. */
  readonly special: number;
  readonly meaning: number;
}

/** A backslash is a slash; reserved characters stay as they were written: `%2F` is never `/`. */
export const PATH: PartRules = { changed: IS_ODD_IN_PATH, special: 0x5c, meaning: 0x2f };
/** `+` is a space, as form decoders read it. */
export const FORM: PartRules = { changed: IS_RESERVED, special: 0x2b, meaning: 0x20 };
export const FORM_LITERAL_PLUS: PartRules = {
  changed: IS_RESERVED,
  special: 0x2b,
  meaning: 0x2b,
};

/** Writes parts of bytes that have a `#` behind them. */
export interface Sheet {
  /** @param from whose parts are written */
  readonly start: (from: Uint8Array) => void;
  readonly put: (byte: number) => void;
  readonly copy: (from: number, to: number) => void;
  readonly encode: (from: number, to: number, rules: PartRules) => void;
  /** As it is, but for what is not fit for a URL on the wire: spaces, and what is not ASCII. */
  readonly encodeUnsafe: (from: number, to: number) => void;
  readonly read: () => string;
}

const PERCENT = 0x25;
const DIGITS = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));
const ASCII = new TextDecoder('utf-8');

/** Makes a sheet that is used again and again: `start` takes off what was on it. */
export function createSheet(): Sheet {
  let source: Uint8Array = new Uint8Array();
  let target = new Uint8Array();
  let size = 0;

  // What is written to in a loop is kept in it: fields of the sheet would be stored for each byte.
  return {
    start: (from) => {
      source = from;
      size = 0;
      // Each byte becomes a triplet at most, and a pair gets one `=` more.
      if (target.length < from.length * 4) target = new Uint8Array(from.length * 4);
    },
    put: (byte) => {
      target[size] = byte;
      size += 1;
    },
    copy: (from, to) => {
      const bytes = source;
      const written = target;
      const shift = size - from;
      for (let at = from; at < to; at += 1) written[at + shift] = bytes[at] ?? 0;
      size += to - from;
    },
    encode: (from, to, rules) => {
      const bytes = source;
      const written = target;
      let end = size;
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at] ?? 0;
        if ((kindsOf(byte) & rules.changed) === 0) {
          written[end] = byte;
          end += 1;
          continue;
        }
        const decoded = byte === PERCENT ? tripletAt(bytes, at) : -1;
        if (decoded !== -1) at += 2;
        const changed = decoded === -1 ? rules.changed : IS_RESERVED;
        end = writeByte(written, end, decoded === -1 ? meant(byte, rules) : decoded, changed);
      }
      size = end;
    },
    encodeUnsafe: (from, to) => {
      for (let at = from; at < to; at += 1) {
        size = writeByte(target, size, source[at] ?? 0, IS_UNSAFE);
      }
    },
    read: () => ASCII.decode(target.subarray(0, size)),
  };
}

function meant(byte: number, { special, meaning }: PartRules): number {
  return byte === special ? meaning : byte;
}

/** @returns where the next one goes */
function writeByte(target: Uint8Array, at: number, byte: number, changed: number): number {
  if ((kindsOf(byte) & changed) === 0) {
    target[at] = byte;
    return at + 1;
  }
  target[at] = PERCENT;
  target[at + 1] = DIGITS[byte >> 4] ?? 0;
  target[at + 2] = DIGITS[byte & 15] ?? 0;
  return at + 3;
}

/** The byte of the triplet at `at`, or -1 where `%` starts none. */
function tripletAt(bytes: Uint8Array, at: number): number {
  const high = hexValue(bytes[at + 1] ?? 0);
  const low = hexValue(bytes[at + 2] ?? 0);
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

/** Value of a hexadecimal digit, or -1. */
function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
