// Percent-encoding of a path or of one half of a pair, in one pass: every spelling becomes the one
// it has in a canonical URL, and what has it already is copied in runs. Nothing is decoded twice.
import { IS_ODD_IN_PATH, IS_RESERVED, kindOf } from './byte-kinds.ts';
import { isUnreserved, TRIPLETS, tripletAt } from './percent-encoding.ts';

/** How one part of a URL is written. */
export interface PartRules {
  /** Kinds of characters that can't stay as they are (see byte-kinds). */
  readonly changed: number;
  /** Code of a character that means another one here, and how that is written. */
  readonly special: number;
  readonly written: string;
}

/** A backslash is a slash; reserved characters stay as they were written: `%2F` is never `/`. */
export const PATH: PartRules = { changed: IS_ODD_IN_PATH, special: 0x5c, written: '/' };
/** `+` is a space, as form decoders read it. */
export const FORM: PartRules = { changed: IS_RESERVED, special: 0x2b, written: '%20' };
export const FORM_LITERAL_PLUS: PartRules = {
  changed: IS_RESERVED,
  special: 0x2b,
  written: '%2B',
};

const PERCENT = 0x25;
const LOWER_A = 0x61;

/** @param text ASCII; encoded from `from` to before `to` */
export function encodePart(text: string, from: number, to: number, rules: PartRules): string {
  let encoded = '';
  let copied = from;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if ((kindOf(code) & rules.changed) === 0) continue;
    if (code !== PERCENT) {
      encoded += text.slice(copied, at);
      encoded += code === rules.special ? rules.written : TRIPLETS[code];
      copied = at + 1;
      continue;
    }
    const byte = tripletAt(text, at);
    if (byte === -1) {
      encoded += `${text.slice(copied, at)}%25`;
      copied = at + 1;
    } else {
      if (isUnreserved(byte) || hasSmallLetter(text, at)) {
        encoded += text.slice(copied, at);
        encoded += isUnreserved(byte) ? String.fromCharCode(byte) : TRIPLETS[byte];
        copied = at + 3;
      }
      at += 2;
    }
  }
  return copied === from ? text.slice(from, to) : encoded + text.slice(copied, to);
}

function hasSmallLetter(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) >= LOWER_A || text.charCodeAt(at + 2) >= LOWER_A;
}
