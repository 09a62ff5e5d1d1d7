// Reads the head of an lmdb data file before lmdb does: the library ends the whole process with a
// segmentation fault when a file is not its own, and with SIGBUS when a truncated file is read.
// Layout of lmdb's data version 2: page 0 and page 1 are meta pages, and the newer one tells the
// last page in use.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export type DataFileState =
  | { readonly state: 'usable' }
  | { readonly state: 'absent' }
  | { readonly state: 'other_version'; readonly version: number }
  /** Provably not a whole lmdb environment. */
  | { readonly state: 'damaged'; readonly reason: 'not_a_file' | 'wrong_magic' | 'truncated' };

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const META_PAGE_FLAG = 0x08;
/** Offsets in a meta page. */
const AT = { flags: 18, magic: 24, version: 28, pageBytes: 48, lastPage: 144, transaction: 152 };
const META_BYTES = 160;
const PAGE_BYTES_MIN = 256;
const PAGE_BYTES_MAX = 65_536;

/** Inspects an lmdb data file without opening it as a database; throws what the disk throws. */
export function inspectDataFile(path: string): DataFileState {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { state: 'absent' };
    }
    throw error;
  }
  try {
    return inspectMetaPages(file);
  } finally {
    closeSync(file);
  }
}

function inspectMetaPages(file: number): DataFileState {
  if (!fstatSync(file).isFile()) return { state: 'damaged', reason: 'not_a_file' };
  if (fstatSync(file).size === 0) return { state: 'absent' };
  const first = readMeta(file, 0);
  if (first === null) return { state: 'damaged', reason: 'wrong_magic' };
  if (first.version !== DATA_VERSION) return { state: 'other_version', version: first.version };
  const second = readMeta(file, first.pageBytes);
  if (second === null) return { state: 'damaged', reason: 'wrong_magic' };
  const newest = first.transaction > second.transaction ? first : second;
  // Read after the meta pages: a writer extends the file before it names the new pages.
  const { size } = fstatSync(file);
  const isWhole = BigInt(size) >= (newest.lastPage + 1n) * BigInt(first.pageBytes);
  return isWhole ? { state: 'usable' } : { state: 'damaged', reason: 'truncated' };
}

interface Meta {
  readonly version: number;
  readonly pageBytes: number;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

function readMeta(file: number, position: number): Meta | null {
  const page = Buffer.alloc(META_BYTES);
  if (readSync(file, page, 0, META_BYTES, position) < META_BYTES) return null;
  if (page.readUInt32LE(AT.magic) !== MAGIC) return null;
  if ((page.readUInt16LE(AT.flags) & META_PAGE_FLAG) === 0) return null;
  const pageBytes = page.readUInt32LE(AT.pageBytes);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) return null;
  return {
    version: page.readUInt32LE(AT.version),
    pageBytes,
    lastPage: page.readBigUInt64LE(AT.lastPage),
    transaction: page.readBigUInt64LE(AT.transaction),
  };
}
