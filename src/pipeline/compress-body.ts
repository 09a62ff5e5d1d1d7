// Compresses a page once, when it is stored, so that no answer ever waits for it.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { BodySet } from './ports.ts';

const gzipBytes = promisify(gzip);
const brotliBytes = promisify(brotliCompress);

const BODY_BYTES_MIN = 1_024;
const GZIP_LEVEL = 6;
/** 11, the default, takes seconds for a large page and gains a few percent. */
const BROTLI_QUALITY = 5;
const COMPRESSIBLE = /^(text\/|application\/(json|javascript|xml)\b|image\/svg\b)|\+(json|xml)\b/i;

/** Adds the codings in which the body gets smaller. */
export async function compressBody(identity: Buffer, contentType: string | null): Promise<BodySet> {
  const isWorthwhile = identity.length >= BODY_BYTES_MIN && COMPRESSIBLE.test(contentType ?? '');
  if (!isWorthwhile) return { identity };
  const [zipped, brotlied] = await Promise.all([
    gzipBytes(identity, { level: GZIP_LEVEL }),
    brotliBytes(identity, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: identity.length,
      },
    }),
  ]);
  return {
    identity,
    ...(zipped.length < identity.length && { gzip: zipped }),
    ...(brotlied.length < identity.length && { br: brotlied }),
  };
}
