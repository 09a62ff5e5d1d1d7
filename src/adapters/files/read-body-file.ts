// Reads a file that anything may have happened to: it is opened without following a link and
// without waiting for a FIFO, and must be a plain file of ours; its bytes decide the rest. It may
// have several names, since pages share bodies.

import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { BodyDigest, Found, Hasher } from '../../pipeline/ports.ts';
import { errorCode, isMissing } from './file-error.ts';

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What open answers for a link, a socket, or a file that is not ours. */
const NO_BODY_CODES: ReadonlySet<string> = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'EACCES', 'EPERM']);

/** Reads a file that must be exactly as the digest says; removes what can't be a body at all. */
export async function readBodyFile(
  path: string,
  digest: BodyDigest,
  hasher: Hasher,
): Promise<Found<Buffer>> {
  const found = await readOpened(path, (bytes) => bytes === digest.bytes);
  if (found.state !== 'found') return found;
  if (hasher.bytes(found.value) !== digest.hash) return { state: 'damaged', reason: 'wrong_hash' };
  return found;
}

/**
 * The bytes of a file of which nothing is known beforehand; null when there is none that could be
 * a body, or it is larger than asked for.
 */
export async function readPlainFile(path: string, bytesMax = Infinity): Promise<Buffer | null> {
  const found = await readOpened(path, (bytes) => bytes <= bytesMax);
  return found.state === 'found' ? found.value : null;
}

async function readOpened(
  path: string,
  isLength: (bytes: number) => boolean,
): Promise<Found<Buffer>> {
  let file: FileHandle;
  try {
    file = await open(path, FLAGS);
  } catch (error) {
    if (isMissing(error)) return { state: 'absent' };
    if (NO_BODY_CODES.has(errorCode(error))) return removeIntruder(path, 'not_a_plain_file');
    return { state: 'unavailable', reason: errorCode(error).toLowerCase() };
  }
  try {
    const stats = await file.stat();
    if (!isPlainFileOfOurs(stats)) return await removeIntruder(path, 'not_a_plain_file');
    if (!isLength(stats.size)) return { state: 'damaged', reason: 'wrong_length' };
    const body = await readWhole(file, stats.size);
    if (body === null) return { state: 'damaged', reason: 'wrong_length' };
    return { state: 'found', value: body };
  } catch (error) {
    return { state: 'unavailable', reason: errorCode(error).toLowerCase() };
  } finally {
    await file.close();
  }
}

/** No names is fine: the file was replaced while it was open, and its bytes are still whole. */
function isPlainFileOfOurs(stats: Stats): boolean {
  const ownUserId = process.geteuid?.() ?? stats.uid;
  return stats.isFile() && stats.uid === ownUserId;
}

async function readWhole(file: FileHandle, bytes: number): Promise<Buffer | null> {
  const body = Buffer.allocUnsafeSlow(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await file.read(body, filled, bytes - filled, filled);
    if (bytesRead === 0) return null;
    filled += bytesRead;
  }
  return body;
}

async function removeIntruder(path: string, reason: string): Promise<Found<Buffer>> {
  try {
    await rm(path, { recursive: true, force: true });
    return { state: 'damaged', reason };
  } catch (error) {
    return { state: 'unavailable', reason: errorCode(error).toLowerCase() };
  }
}
