// The Hasher port on xxhash-wasm, the only user of that library. Its own text form goes through the
// digits of a big integer, which costs more than the hash: here the two halves become digits.
import loadXxhash from 'xxhash-wasm';
import type { Hasher } from '../../pipeline/ports.ts';

/** Loads the WebAssembly module; every hash after that is synchronous. */
export async function createHasher(): Promise<Hasher> {
  const xxhash = await loadXxhash();
  const whole = new BigUint64Array(1);
  const halves = new DataView(whole.buffer);
  const format = (hash: bigint): string => {
    halves.setBigUint64(0, hash);
    return writeDigits(halves.getUint32(0), halves.getUint32(4));
  };
  return {
    text: (text) => format(xxhash.h64(text)),
    bytes: (bytes) => format(xxhash.h64Raw(bytes)),
  };
}

/** 16 lower-case hex digits, as one flat text. */
function writeDigits(high: number, low: number): string {
  return String.fromCharCode(
    digit(high >>> 28),
    digit(high >>> 24),
    digit(high >>> 20),
    digit(high >>> 16),
    digit(high >>> 12),
    digit(high >>> 8),
    digit(high >>> 4),
    digit(high),
    digit(low >>> 28),
    digit(low >>> 24),
    digit(low >>> 20),
    digit(low >>> 16),
    digit(low >>> 12),
    digit(low >>> 8),
    digit(low >>> 4),
    digit(low),
  );
}

/** Codes of the hex digits. */
const DIGITS = Uint8Array.from('0123456789abcdef', (char) => char.charCodeAt(0));

function digit(bits: number): number {
  return DIGITS[bits & 15] ?? 0;
}
