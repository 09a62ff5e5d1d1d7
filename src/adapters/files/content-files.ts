// The content files of a host after they were made: which codings there are of one, and that it
// goes with the last page that had it. The file system counts: a content file
// with no other name is nobody's.
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Codings, Hasher } from '../../pipeline/ports.ts';
import { CODINGS, type ContentRef, contentPath } from './body-path.ts';
import { inspect, unlinkIfThere } from './file-error.ts';
import { readPlainFile } from './read-body-file.ts';

const DECODERS = { gzip: promisify(gunzip), br: promisify(brotliDecompress) } as const;

/** Of a page's own file and its content file. */
const NAMES_OF_ONE_PAGE = 2;

/**
 * The content of a page's identity file if no other page has it: what is left alone when that file
 * goes.
 *
 * @param path of the page's file
 */
export async function findLastContent(
  path: string,
  hostId: number,
  hasher: Hasher,
): Promise<ContentRef | null> {
  if ((await countNames(path)) !== NAMES_OF_ONE_PAGE) return null;
  const bytes = await readPlainFile(path);
  return bytes === null ? null : { hostId, bytes: bytes.length, hash: hasher.bytes(bytes) };
}

/** Removes the files of a content that have no other name. */
export async function dropLooseContent(pages: string, content: ContentRef): Promise<void> {
  for (const coding of CODINGS) await dropIfLoose(contentPath(pages, content, coding));
}

/**
 * Removes a content file with no other name; says whether it had none. Whoever links to it in
 * between keeps a file of its own.
 */
export async function dropIfLoose(path: string): Promise<boolean> {
  if ((await countNames(path)) !== 1) return false;
  await unlinkIfThere(path);
  return true;
}

/** The codings that are kept of these bytes; what does not decode to them is left out. */
export async function findCodings(
  pages: string,
  content: ContentRef,
  identity: Buffer,
): Promise<Codings> {
  const [zipped, brotlied] = await Promise.all(
    (['gzip', 'br'] as const).map(async (coding) => {
      const bytes = await readPlainFile(contentPath(pages, content, coding), identity.length);
      return bytes !== null && (await decodesTo(bytes, coding, identity)) ? bytes : undefined;
    }),
  );
  return { ...(zipped && { gzip: zipped }), ...(brotlied && { br: brotlied }) };
}

async function decodesTo(
  bytes: Buffer,
  coding: keyof typeof DECODERS,
  identity: Buffer,
): Promise<boolean> {
  try {
    const decoded = await DECODERS[coding](bytes, { maxOutputLength: identity.length });
    return decoded.equals(identity);
  } catch {
    // Damaged, or larger than what it should be: not what was asked for.
    return false;
  }
}

async function countNames(path: string): Promise<number> {
  const stats = await inspect(path);
  return stats?.isFile() === true ? stats.nlink : 0;
}
