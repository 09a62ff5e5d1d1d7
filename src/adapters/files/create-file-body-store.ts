// The BodyStore port on plain files; the same bytes are kept once for all pages of a host. A write
// is made aside, flushed and renamed; a read believes nothing it has not checked. When the disk
// fails, writing pauses for a while, so that a full disk costs one attempt every few seconds and
// one warning an outage.
import { randomBytes } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createOutage } from '../../core/outage.ts';
import type {
  BodyRef,
  BodySet,
  BodyStore,
  Clock,
  Done,
  Found,
  Hasher,
} from '../../pipeline/ports.ts';
import type { BodyFiles } from '../../pipeline/upkeep-ports.ts';
import { bodyPath, contentPath } from './body-path.ts';
import { dropLooseContent, findCodings } from './content-files.ts';
import { createBodyFiles } from './create-body-files.ts';
import { answer, inspect } from './file-error.ts';
import { ensureOwnFolder } from './own-folder.ts';
import { readBodyFile } from './read-body-file.ts';
import { removeBodyFiles } from './remove-body-files.ts';
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
  /** How many pages this process stored whose body another page of the host had already. */
  readonly sharedCount: () => number;
  /** For sweep and `verify`. */
  readonly files: BodyFiles;
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
  const deps = { pages, staging, hasher };
  let shared = 0;
  const outage = createOutage(BACK_OFF_MS, {
    onFailing: (reason) => onWarning({ kind: 'bodies_failing', reason }),
    onRecovered: () => onWarning({ kind: 'bodies_recovered' }),
  });

  async function write(ref: BodyRef, bodies: BodySet): Promise<Done<void>> {
    const known = outage.reasonAt(clock.now());
    if (known !== null) return { state: 'unavailable', reason: known };
    const done = await answer(() => writeBodyFiles(ref, bodies, deps));
    if (done.state === 'unavailable') {
      outage.fail(clock.now(), done.reason);
      return done;
    }
    outage.succeed();
    if (done.value) shared += 1;
    return { state: 'done', value: undefined };
  }

  async function check(): Promise<Done<void>> {
    const known = outage.reasonAt(clock.now());
    if (known !== null) return { state: 'unavailable', reason: known };
    return answer(() => ensureOwnFolder(stagingFolder));
  }

  const read: FileBodyStore['read'] = async (ref, coding, digests) => {
    const digest = digests[coding];
    if (digest === undefined) return { state: 'absent' };
    const found = await readBodyFile(bodyPath(pages, ref, coding), digest, hasher);
    if (!(await isReplaced(found, bodyPath(pages, ref, 'identity')))) return found;
    // A newer version has its name, whose metadata have not come, and may never come.
    const content = contentPath(pages, { hostId: ref.hostId, ...digests.identity }, coding);
    const left = await readBodyFile(content, digest, hasher);
    return left.state === 'found' ? left : found;
  };

  return {
    name: 'filesystem',
    write,
    findCodings: (hostId, identity) => {
      const content = { hostId, bytes: identity.length, hash: hasher.bytes(identity) };
      return findCodings(pages, content, identity);
    },
    forget: ({ hostId }, identity) =>
      answer(() => dropLooseContent(pages, { hostId, ...identity })),
    // A file stays until it is deleted.
    keepUntil: async () => ({ state: 'done', value: undefined }),
    read,
    // The disk is near: a file that may not be wanted is not read.
    readAhead: (ref) => (coding, digests) => read(ref, coding, digests),
    delete: (ref) => answer(() => removeBodyFiles(ref, deps)),
    sparesEntries: false,
    check,
    close: async () => undefined,
    sweepLeftovers: () => staging.sweep(clock.now()),
    sharedCount: () => shared,
    files: createBodyFiles(pages, () => staging.sweep(clock.now())),
  };
}

/**
 * Other bytes, or not in this coding. A page whose file was taken away by hand has none, which is
 * what was meant.
 */
async function isReplaced(found: Found<Buffer>, identity: string): Promise<boolean> {
  if (found.state === 'damaged') return /^wrong_/.test(found.reason);
  return found.state === 'absent' && (await inspect(identity)) !== null;
}
