// The Hasher port on xxhash-wasm, the only user of that library.
import loadXxhash from 'xxhash-wasm';
import type { Hasher } from '../../pipeline/ports.ts';

/** Loads the WebAssembly module; every hash after that is synchronous. */
export async function createHasher(): Promise<Hasher> {
  const xxhash = await loadXxhash();
  return {
    text: (text) => xxhash.h64ToString(text),
    bytes: (bytes) => xxhash.h64Raw(bytes).toString(16).padStart(16, '0'),
  };
}
