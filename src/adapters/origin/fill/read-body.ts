// Reads a whole answer body, decoded, under a cap that counts decoded bytes, so that a
// compression bomb costs no more than the cap.
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** The body is larger than a page may be. */
export class BodyTooLarge extends Error {
  readonly code = 'too_large';
}

type MakeDecoder = () => NodeJS.ReadWriteStream;

const DECODERS: ReadonlyMap<string, MakeDecoder> = new Map<string, MakeDecoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['deflate', () => createInflate()],
]);
const CODINGS_MAX = 2;

/** The codings in the order they were applied, `identity` left out; null: one isn't known. */
export function knownCodings(members: readonly string[]): readonly string[] | null {
  const codings = members
    .map((member) => member.toLowerCase())
    .filter((member) => member !== 'identity');
  const isKnown = codings.length <= CODINGS_MAX && codings.every((coding) => DECODERS.has(coding));
  return isKnown ? codings : null;
}

/** Reads to the end, or throws: BodyTooLarge, the stream's own error, a decoder's. */
export async function readBody(
  stream: Readable,
  codings: readonly string[],
  bytesMax: number,
): Promise<Buffer> {
  const decoders = codings.toReversed().flatMap((coding) => DECODERS.get(coding)?.() ?? []);
  const chunks: Buffer[] = [];
  let bytes = 0;
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > bytesMax) return done(new BodyTooLarge(`more than ${bytesMax} bytes`));
      chunks.push(chunk);
      done();
    },
  });
  await pipeline([stream, ...decoders, sink]);
  return Buffer.concat(chunks, bytes);
}
