// Folders of ours: a browser's profile, or the socket of a gateway's own renderer. Their names say
// which process made them and when that began, in base 36 to be short, so that a successor can tell
// the folders of the dead from those of the living, even where every process is number 1. Only
// folders of our own user count: others may write into the same place.
import { mkdtempSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { isProcessAlive } from '../../core/is-process-alive.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { endGroupsOf, processStart } from '../browser/process-group.ts';
import { listPlaces, placeBytesMax } from './temporary-places.ts';

/** Temporary files of a browser, in its folder. */
export const TEMPORARY_NAME = 't';

const PREFIX = 'egw-';
const RANDOM = 'XXXXXX';
/** Of the largest id, and of a machine that has run for 24 years. */
const PID_CHARS_MAX = 5;
const START_CHARS_MAX = 7;
const OWN_BYTES_MAX =
  `/${PREFIX}--${RANDOM}/${TEMPORARY_NAME}`.length + PID_CHARS_MAX + START_CHARS_MAX;
const NAME = new RegExp(`^${PREFIX}([0-9a-z]+)-([0-9a-z]+)-.+$`);
/** A browser that is being killed may write for a moment longer. */
const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 50 } as const;

/** What the names of a process's folders begin with; without its beginning, of all with its id. */
export function ownPrefix(pid: number, start: string | null = null): string {
  const begin = start === null ? '' : `${Number(start).toString(36)}-`;
  return `${PREFIX}${pid.toString(36)}-${begin}`;
}

/** Makes a folder that nobody else can enter; the error says what to do. */
export function createOwnFolder(places = listPlaces()): Result<string, string> {
  const prefix = ownPrefix(process.pid, processStart(process.pid) ?? '0');
  const bytesMax = placeBytesMax(OWN_BYTES_MAX);
  const reasons: string[] = [];
  for (const place of places) {
    const bytes = Buffer.byteLength(place);
    if (bytes > bytesMax) {
      reasons.push(`${place} is too long for the sockets in it: ${bytes} bytes of ${bytesMax}`);
      continue;
    }
    try {
      return ok(mkdtempSync(join(place, prefix)));
    } catch (cause) {
      reasons.push(cause instanceof Error ? cause.message : String(cause));
    }
  }
  const why = reasons.join('; ');
  return err(`no folder for a browser: ${why}; set TMPDIR to a short one that can be written`);
}

/** Removes one with all that is in it. */
export async function removeOwnFolder(path: string): Promise<void> {
  await rm(path, REMOVE_OPTIONS);
}

/** Removes the folders of processes that are gone and ends browsers they left; says how many. */
export async function sweepOwnFolders(): Promise<number> {
  const paths = (await Promise.all(listPlaces().map(listOrphans))).flat();
  for (const path of paths) {
    await endGroupsOf(profileFlag(path));
    await removeOwnFolder(path);
  }
  return paths.length;
}

/** The argument by which a browser is told its folder, and is known by later. */
export function profileFlag(path: string): string {
  return `--user-data-dir=${path}`;
}

async function listOrphans(place: string): Promise<readonly string[]> {
  // A place that is not there, or not for us, has nothing of ours.
  const names = await readdir(place).catch(() => []);
  const paths = names.filter(isOrphan).map((name) => join(place, name));
  const areOurs = await Promise.all(paths.map(isOurs));
  return paths.filter((_path, index) => areOurs[index]);
}

async function isOurs(path: string): Promise<boolean> {
  // Somebody else may be removing it, too.
  const stats = await lstat(path).catch(() => null);
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}

function isOrphan(name: string): boolean {
  const [, pidText, startText] = NAME.exec(name) ?? [];
  if (pidText === undefined || startText === undefined) return false;
  const pid = Number.parseInt(pidText, 36);
  const current = processStart(pid);
  if (current !== null) return Number(current) !== Number.parseInt(startText, 36);
  const hasTable = processStart(process.pid) !== null;
  return hasTable || !isProcessAlive(pid, process);
}
