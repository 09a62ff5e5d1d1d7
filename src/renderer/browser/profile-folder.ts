// The one folder in which a browser keeps everything: profile, temporary files, caches. Its name
// says which process of ours made it and when that process began, so that a successor can tell the
// folders of the dead from those of the living, even where every process is number 1.

import { mkdirSync, mkdtempSync } from 'node:fs';
import { readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { isProcessAlive } from '../../core/is-process-alive.ts';
import { commandLine, killGroup, processStart } from './process-group.ts';

const PREFIX = 'edge-gateway-browser-';
/** A browser that is being killed may write for a moment longer. */
const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

export interface ProfileFolder {
  readonly path: string;
  /** What the browser finds in its environment: its home and all its other places are in here. */
  readonly environment: NodeJS.ProcessEnv;
  readonly remove: () => Promise<void>;
}

/** Makes the folder of one browser. */
export function createProfileFolder(): ProfileFolder {
  const owner = `${process.pid}-${processStart(process.pid) ?? '0'}`;
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${owner}-`));
  const temporary = join(path, 't');
  mkdirSync(temporary);
  return {
    path,
    environment: {
      PATH: process.env['PATH'],
      LANG: process.env['LANG'] ?? 'C.UTF-8',
      TZ: process.env['TZ'],
      HOME: path,
      TMPDIR: temporary,
      XDG_CACHE_HOME: path,
      XDG_CONFIG_HOME: path,
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    },
    remove: () => rm(path, REMOVE_OPTIONS),
  };
}

/** Removes the folders of processes that are gone and ends browsers they left; says how many. */
export async function sweepProfileFolders(): Promise<number> {
  const folder = tmpdir();
  const names = (await readdir(folder)).filter((name) => isOrphan(name));
  for (const name of names) {
    const path = join(folder, name);
    await endLeftover(path);
    await rm(path, REMOVE_OPTIONS);
  }
  return names.length;
}

function isOrphan(name: string): boolean {
  const [, pid, start] = /^edge-gateway-browser-(\d+)-(\d+)-/.exec(name) ?? [];
  if (pid === undefined || start === undefined) return false;
  const current = processStart(Number(pid));
  if (current !== null) return current !== start;
  // It is gone, or there is no /proc to look into.
  return !isProcessAlive(Number(pid), process);
}

/** The profile's lock names its browser; a process that mentions the folder is that browser. */
async function endLeftover(path: string): Promise<void> {
  const target = await readlink(join(path, 'SingletonLock')).catch(() => '');
  const pid = Number(target.slice(target.lastIndexOf('-') + 1));
  if (Number.isInteger(pid) && pid > 1 && commandLine(pid).includes(path)) killGroup(pid);
}
