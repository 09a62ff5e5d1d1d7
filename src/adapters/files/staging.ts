// Files are made aside, in `pages/.staging`, and renamed into place when they are whole and on the
// disk, so that a reader never sees half of one. Names tell which process made them; what a dead
// process left is swept at start. One folder, so that the sweep is as small as the leftovers.
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { isProcessAlive } from '../../core/is-process-alive.ts';
import { isMissing } from './file-error.ts';
import { ensureOwnFolder } from './own-folder.ts';

export interface Staging {
  /** Makes sure that there is such a folder of ours: before anything is staged. */
  readonly prepare: () => Promise<void>;
  /** Writes a whole file aside, flushed, and answers its path; leaves nothing when it fails. */
  readonly write: (bytes: Uint8Array) => Promise<string>;
  /** A path in the staging folder that nobody else has. */
  readonly nextPath: () => string;
  /** Removes what dead processes left; answers how many files. */
  readonly sweep: (nowMs: number) => Promise<number>;
}

const LEFTOVER = /^([0-9a-f]{8})-(\d+)-([0-9a-f]{8})-\d+\.tmp$/;

/** A file of another machine, whose processes we can't see, is a leftover after an hour. */
const LEFTOVER_AGE_MS = 3_600_000;

/**
 * Makes the staging area of one process.
 *
 * @param folder on the same file system as the pages
 * @param machine 8 hex digits that differ between machines which share the folder
 * @param run 8 hex digits that differ between runs: a restarted container has the same pid again
 */
export function createStaging(folder: string, machine: string, run: string): Staging {
  let count = 0;

  function nextPath(): string {
    count += 1;
    return join(folder, `${machine}-${process.pid}-${run}-${count}.tmp`);
  }

  async function write(bytes: Uint8Array): Promise<string> {
    const path = nextPath();
    try {
      await writeFlushed(path, bytes);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return path;
  }

  async function sweep(nowMs: number): Promise<number> {
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    let removed = 0;
    for (const name of names) {
      const path = join(folder, name);
      if (!(await isLeftover(name, path, nowMs))) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  async function isLeftover(name: string, path: string, nowMs: number): Promise<boolean> {
    const [, fileMachine, pid, fileRun] = LEFTOVER.exec(name) ?? [];
    if (fileMachine === machine && pid !== undefined) {
      const isOurPid = Number(pid) === process.pid;
      return isOurPid ? fileRun !== run : !isProcessAlive(Number(pid), process);
    }
    const stats = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    return stats !== null && nowMs - stats.mtimeMs > LEFTOVER_AGE_MS;
  }

  return { prepare: () => ensureOwnFolder(folder), write, nextPath, sweep };
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o640);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
