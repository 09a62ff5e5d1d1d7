// The BodyStore port on plain files. A write is made aside, flushed and renamed; a read believes
// nothing it has not checked. When the disk fails, writing pauses for a while, so that a full disk
// costs one attempt every few seconds and one warning an outage.
import { randomBytes } from 'node:crypto';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createOutage } from '../../core/outage.ts';
import type { BodyRef, BodySet, BodyStore, Clock, Done, Hasher } from '../../pipeline/ports.ts';
import { bodyPath, CODINGS } from './body-path.ts';
import { errorCode, isMissing } from './file-error.ts';
import { ensureOwnFolder } from './own-folder.ts';
import { readBodyFile } from './read-body-file.ts';
import { createStaging } from './staging.ts';
import { writeBodyFiles } from './write-body-files.ts';

export type FileWarning =
  /** Nothing is stored from now on; said once until a write works again. */
  | { readonly kind: 'bodies_failing'; readonly reason: string }
  | { readonly kind: 'bodies_recovered' };

export interface FileBodyStoreOptions {
  /** `storage.base_path`; bodies are in its `pages` folder. */
  readonly basePath: string;
  readonly hasher: Hasher;
  readonly clock: Clock;
  readonly onWarning: (warning: FileWarning) => void;
}

export interface FileBodyStore extends BodyStore {
  /** Removes half-written files of dead processes; answers how many. For start-up. */
  readonly sweepLeftovers: () => Promise<number>;
}

const BACK_OFF_MS = 5_000;

/** Opens the body store; creates its folder, and throws when that can't be done. */
export async function createFileBodyStore(options: FileBodyStoreOptions): Promise<FileBodyStore> {
  const { basePath, hasher, clock, onWarning } = options;
  await mkdir(join(basePath, 'pages'), { recursive: true, mode: 0o750 });
  // Links on the way to the store are the operator's; none is followed inside it.
  const pages = await realpath(join(basePath, 'pages'));
  const stagingFolder = join(pages, '.staging');
  const machine = hasher.text(hostname()).slice(0, 8);
  const staging = createStaging(stagingFolder, machine, randomBytes(4).toString('hex'));
  const outage = createOutage(BACK_OFF_MS, {
    onFailing: (reason) => onWarning({ kind: 'bodies_failing', reason }),
    onRecovered: () => onWarning({ kind: 'bodies_recovered' }),
  });

  async function write(ref: BodyRef, bodies: BodySet): Promise<Done<void>> {
    const known = outage.reasonAt(clock.now());
    if (known !== null) return { state: 'unavailable', reason: known };
    const done = await answer(() => writeBodyFiles(pages, staging, ref, bodies));
    if (done.state === 'done') outage.succeed();
    else outage.fail(clock.now(), done.reason);
    return done;
  }

  async function check(): Promise<Done<void>> {
    const known = outage.reasonAt(clock.now());
    if (known !== null) return { state: 'unavailable', reason: known };
    return answer(() => ensureOwnFolder(stagingFolder));
  }

  return {
    name: 'filesystem',
    write,
    // A file stays until it is deleted.
    keepUntil: async () => ({ state: 'done', value: undefined }),
    read: (ref, coding, digest) => readBodyFile(bodyPath(pages, ref, coding), digest, hasher),
    delete: (ref) => answer(() => removeBodyFiles(pages, ref)),
    check,
    close: async () => undefined,
    sweepLeftovers: () => staging.sweep(clock.now()),
  };
}

/** What the disk throws becomes a value; what has no code is a broken invariant. */
async function answer<T>(operation: () => Promise<T>): Promise<Done<T>> {
  try {
    return { state: 'done', value: await operation() };
  } catch (error) {
    if (errorCode(error) === 'unknown') throw error;
    return { state: 'unavailable', reason: errorCode(error).toLowerCase() };
  }
}

async function removeBodyFiles(pages: string, ref: BodyRef): Promise<boolean> {
  let wasThere = false;
  for (const coding of CODINGS) {
    try {
      await rm(bodyPath(pages, ref, coding), { recursive: true });
      wasThere = true;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return wasThere;
}
