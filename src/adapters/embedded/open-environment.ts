// Opens the lmdb environment, or says in one sentence why not. Everything that makes lmdb's own
// open fail is tried beforehand, because a failed open ends the process without a message. A store
// that is provably damaged is only a cache: it is set aside, and the gateway starts empty.
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { inspectDataFile } from './inspect-data-file.ts';
import { type StoreOpenCode, StoreOpenError } from './store-open-error.ts';

export type Environment = RootDatabase<string, string>;

/** A damaged store was moved away. */
export interface SetAside {
  readonly reason: string;
  readonly movedTo: string;
}

/** Room that must be there for lmdb's first pages and its lock file. */
const START_BYTES = 256 * 1024;

/**
 * Opens or creates the environment in a folder.
 *
 * @param folder holds `data.mdb` and `lock.mdb`
 * @param onSetAside told when a damaged store was moved beside the folder
 * @throws StoreOpenError with what the operator can do
 */
export function openEnvironment(
  folder: string,
  onSetAside: (event: SetAside) => void,
): Environment {
  try {
    setAsideIfDamaged(folder, onSetAside);
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    probeWriting(folder);
    return open<string, string>({
      path: folder,
      noSubdir: false,
      encoding: 'string',
      useVersions: true,
      // With batching, lmdb leaves a rejected promise of its own behind when the disk is full.
      eventTurnBatching: false,
      // A write answers once it is visible and survives a kill; the flush goes on beside it.
      separateFlushed: true,
    });
  } catch (error) {
    throw isSystemError(error) ? explainFailure(folder, error) : error;
  }
}

/** lmdb goes on looking at the state of a moment ago, for as long as a millisecond. */
export function renewView(environment: Environment): void {
  environment.resetReadTxn();
}

/** Inspects and moves in one turn, so that of two starting processes only one moves it. */
function setAsideIfDamaged(folder: string, onSetAside: (event: SetAside) => void): void {
  const found = inspectFolder(folder);
  if (found.state === 'other_version') {
    throw new StoreOpenError(
      'store_other_version',
      `the store in ${folder} has lmdb data version ${found.version}, which this release can't` +
        ` read: use the release that wrote it, or move the folder away to start empty`,
    );
  }
  if (found.state !== 'damaged') return;
  const movedTo = `${folder}.damaged-${Date.now()}-${process.pid}`;
  renameSync(folder, movedTo);
  onSetAside({ reason: found.reason, movedTo });
}

function inspectFolder(folder: string): ReturnType<typeof inspectDataFile> {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return { state: 'absent' };
  if (!stats.isDirectory()) return { state: 'damaged', reason: 'not_a_file' };
  const lock = statSync(join(folder, 'lock.mdb'), { throwIfNoEntry: false });
  if (lock !== undefined && !lock.isFile()) return { state: 'damaged', reason: 'not_a_file' };
  return inspectDataFile(join(folder, 'data.mdb'));
}

/** Both files must open for writing, and the disk must have room for lmdb's first pages. */
function probeWriting(folder: string): void {
  for (const name of ['data.mdb', 'lock.mdb']) {
    closeSync(openSync(join(folder, name), 'a', 0o640));
  }
  const probe = join(folder, 'start-probe');
  try {
    writeFileSync(probe, Buffer.alloc(START_BYTES), { mode: 0o600 });
  } finally {
    rmSync(probe, { force: true });
  }
}

const FAILURES: Readonly<Record<string, readonly [code: StoreOpenCode, advice: string]>> = {
  EACCES: ['store_not_writable', 'give the gateway user write access to it, or set another folder'],
  EPERM: ['store_not_writable', 'give the gateway user write access to it, or set another folder'],
  EROFS: ['store_not_writable', 'the file system is read-only: mount it writable'],
  ENOSPC: ['store_disk_full', 'the disk is full: free some space'],
  EDQUOT: ['store_disk_full', 'the disk quota is used up: free some space'],
  EFBIG: ['store_disk_full', 'files may not grow so large: raise the limit of the process'],
};

/** What the disk throws has a text as code, and what lmdb throws a number. */
function isSystemError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error && !(error instanceof StoreOpenError);
}

function explainFailure(folder: string, cause: Error & { readonly code: unknown }): StoreOpenError {
  const errno = String(cause.code);
  const [code, advice] = FAILURES[errno] ?? ['store_not_openable', 'check the folder'];
  const message = `can't open the store in ${folder} (${errno}): ${advice} (storage.base_path)`;
  return new StoreOpenError(code, message, cause);
}
