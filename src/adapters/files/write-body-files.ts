// Replaces the files of one page by those of its next version. All codings are made and flushed
// before the first is renamed: the moment at which versions are mixed stays as short as it can be.
import { rename, rm } from 'node:fs/promises';
import type { BodyRef, BodySet, ContentCoding } from '../../pipeline/ports.ts';
import { bodyFolder, bodyPath, CODINGS } from './body-path.ts';
import { errorCode } from './file-error.ts';
import { ensureOwnFolder } from './own-folder.ts';
import type { Staging } from './staging.ts';

interface StagedFile {
  readonly coding: ContentCoding;
  /** null: the new version has no such coding, and an older one's file goes. */
  readonly path: string | null;
}

/** Writes all codings of a page; throws what the disk throws and leaves no temporary file. */
export async function writeBodyFiles(
  pages: string,
  staging: Staging,
  ref: BodyRef,
  bodies: BodySet,
): Promise<void> {
  const results = await Promise.allSettled(
    CODINGS.map((coding) => stage(staging, coding, bodies[coding])),
  );
  const staged = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  try {
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    await ensureOwnFolder(bodyFolder(pages, ref));
    for (const { coding, path } of staged) await place(path, bodyPath(pages, ref, coding));
  } catch (error) {
    for (const { path } of staged) {
      if (path !== null) await rm(path, { force: true });
    }
    throw error;
  }
}

async function stage(
  staging: Staging,
  coding: ContentCoding,
  bytes: Buffer | undefined,
): Promise<StagedFile> {
  return { coding, path: bytes === undefined ? null : await staging.write(bytes) };
}

async function place(staged: string | null, target: string): Promise<void> {
  if (staged === null) return rm(target, { recursive: true, force: true });
  try {
    await rename(staged, target);
  } catch (error) {
    if (errorCode(error) !== 'EISDIR') throw error;
    await rm(target, { recursive: true, force: true });
    await rename(staged, target);
  }
}
