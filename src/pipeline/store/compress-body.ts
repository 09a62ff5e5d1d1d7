// Compresses a body with what every crawler understands.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Codings } from '../ports.ts';

const gzipBytes = promisify(gzip);
const brotliBytes = promisify(brotliCompress);

const BODY_BYTES_MIN = 1_024;
/** Larger pages are rare, and would keep a thread busy for a second. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const GZIP_LEVEL = 6;
/** 11, the default, takes seconds for a large page and gains a few percent. */
const BROTLI_QUALITY = 5;
const COMPRESSIBLE = /^(text\/|application\/(json|javascript|xml)\b|image\/svg\b)|\+(json|xml)\b/i;

/** Whether compressing is worth the trouble. */
export function isCompressible(bytes: number, contentType: string | null): boolean {
  if (bytes < BODY_BYTES_MIN || bytes > BODY_BYTES_MAX) return false;
  return contentType !== null && COMPRESSIBLE.test(contentType);
}

/** The codings in which the body gets smaller; one after the other, on one thread. */
export async function compressBody(identity: Buffer): Promise<Codings> {
  const zipped = await gzipBytes(identity, { level: GZIP_LEVEL });
  const brotlied = await brotliBytes(identity, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
    },
  });
  return {
    ...(zipped.length < identity.length && { gzip: zipped }),
    ...(brotlied.length < identity.length && { br: brotlied }),
  };
}
