// Raw bytes → URL text, without losing one: UTF-8 is read as such, and where it is not UTF-8 every
// byte above ASCII becomes its triplet, which is what it would be in a well-formed URL.
import { TRIPLETS } from './percent-encoding.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads one URL from bytes (a line of a file, a request target). */
export function bytesToUrlText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    // Not UTF-8: that is an answer, not a failure.
    return latin1ToUrlText(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  }
}

/** The same for text that holds one byte in each character, as Node gives request targets. */
export function latin1ToUrlText(latin1: string): string {
  return latin1.replace(/[\u0080-\u00ff]/g, (char) => TRIPLETS[char.charCodeAt(0)] ?? char);
}
