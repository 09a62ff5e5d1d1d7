// The file of one list: how it is named, and how it is replaced as a whole.
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RangeFile } from '../../core/bots/range-list.ts';

export function listFileName(list: string): string {
  return `${list}.json`;
}

/** The text of a list's file; null when there is none. */
export async function readListFile(folder: string, list: string): Promise<string | null> {
  try {
    return await readFile(join(folder, listFileName(list)), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Written aside, flushed and renamed: a reader sees the old list or the new one. */
export async function writeListFile(folder: string, list: string, file: RangeFile): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, listFileName(list));
  const aside = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(aside, 'w', 0o644);
    try {
      await handle.writeFile(`${JSON.stringify(file, null, 1)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
