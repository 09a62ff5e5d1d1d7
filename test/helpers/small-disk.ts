// A disk that can be filled: a tmpfs of a few megabytes, where this machine lets us mount one, and
// a process whose files may not grow where it does not.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Room {
  /** Takes all room there is, to the last byte. */
  readonly fill: () => void;
  /** Gives it back. */
  readonly free: () => void;
}

export interface SmallDisk extends Room {
  readonly unmount: () => void;
}

const CHUNK_BYTES = 4_096;

/** Whether disks may be mounted here: not in most containers, and not without root. */
export function canMountDisks(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'edge-gateway-mount-'));
  const mounted = mountSmallDisk(folder, 64);
  mounted?.unmount();
  rmSync(folder, { recursive: true });
  return mounted !== null;
}

/** @returns null: it may not be mounted */
export function mountSmallDisk(folder: string, kibibytes: number): SmallDisk | null {
  const options = `size=${kibibytes}k`;
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  if (mounted.status !== 0) return null;
  const filler = join(folder, 'filler');
  return {
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        const chunk = Buffer.alloc(CHUNK_BYTES);
        while (writeSync(file, chunk) > 0);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler),
    // Also while a process that is being killed still has a file of it.
    unmount: () => void spawnSync('umount', ['-l', folder]),
  };
}

/** As a full disk to a process that ignores SIGXFSZ: none of its files may be longer than that. */
export function limitFiles(pid: number): Room {
  const limit = (bytes: string): void => {
    const command = ['--pid', String(pid), `--fsize=${bytes}:`];
    const { status, stderr } = spawnSync('prlimit', command, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`prlimit: ${stderr}`);
  };
  return { fill: () => limit(String(CHUNK_BYTES)), free: () => limit('unlimited') };
}
