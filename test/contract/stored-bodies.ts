// Bodies for the store suites, with the digests that describe them.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { BodyDigest, ContentCoding, Hasher } from '../../src/pipeline/ports.ts';

/** Describes bytes as an entry does. */
export function digestOf(hasher: Hasher, bytes: Buffer): BodyDigest {
  return { bytes: bytes.length, hash: hasher.bytes(bytes) };
}

/** A page of some kilobytes in all codings. */
export function makeBodies(text: string): Readonly<Record<ContentCoding, Buffer>> {
  const identity = Buffer.from(
    `<!doctype html><title>${text}</title>${`<p>${text}</p>`.repeat(400)}`,
  );
  return { identity, gzip: gzipSync(identity), br: brotliCompressSync(identity) };
}
