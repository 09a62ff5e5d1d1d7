// Folders inside the store. None may be a link: what is written through it would land elsewhere.
import { mkdir, realpath } from 'node:fs/promises';

/** A folder inside the store turned out to be a link. attacks.md H03. */
class LinkedFolderError extends Error {
  readonly code = 'ELINKED';
}

/** Creates a folder that may be missing, also again, and refuses one reached through a link. */
export async function ensureOwnFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o750 });
  if ((await realpath(path)) !== path) throw new LinkedFolderError(path);
}
