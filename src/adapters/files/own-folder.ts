// Folders inside the store. None may be a link: what is written through it would land elsewhere.
import { mkdir, realpath } from 'node:fs/promises';
import { isMissing } from './file-error.ts';

/** A folder inside the store turned out to be a link. */
class LinkedFolderError extends Error {
  readonly code = 'ELINKED';
}

/** Creates a folder that may be missing, also again, and refuses one reached through a link. */
export async function ensureOwnFolder(path: string): Promise<void> {
  let found: string;
  try {
    // It is there nearly always: one question to the disk.
    found = await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(path, { recursive: true, mode: 0o750 });
    found = await realpath(path);
  }
  if (found !== path) throw new LinkedFolderError(path);
}
