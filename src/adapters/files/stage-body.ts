// Makes the file of one body aside: as one more name of the content file when the host has these
// bytes already, else written and offered as the content file of those to come. Names tell
// nothing, since XXH64 can be collided on purpose: the bytes are compared, through a name of our
// own that nobody can exchange meanwhile. Where no links can be made, every body has its own file.
import { link, rm } from 'node:fs/promises';
import type { Hasher } from '../../pipeline/ports.ts';
import { errorCode, isMissing } from './file-error.ts';
import { readBodyFile } from './read-body-file.ts';
import type { Staging } from './staging.ts';

export interface StagedBody {
  /** In the staging folder. */
  readonly path: string;
  /** `shared`: a name of what was there; `first`: what others can share; `own`: nobody else's. */
  readonly kind: 'shared' | 'first' | 'own';
}

export interface StageDeps {
  readonly staging: Staging;
  readonly hasher: Hasher;
}

/** What `link` answers where a second name can't be had: also for too many names of one file. */
const NO_LINK_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'EMLINK',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EPERM',
  'EXDEV',
]);

/**
 * @param content where the shared file is or will be; null: this body is not to be shared
 */
export async function stageBody(
  bytes: Buffer,
  content: string | null,
  deps: StageDeps,
): Promise<StagedBody> {
  const { staging } = deps;
  if (content === null) return { path: await staging.write(bytes), kind: 'own' };
  const shared = await takeContent(bytes, content, deps);
  if (shared !== null) return { path: shared, kind: 'shared' };
  const path = await staging.write(bytes);
  try {
    if (await tryLink(path, content)) return { path, kind: 'first' };
    // Another process was faster, or there are no links here.
    const late = await takeContent(bytes, content, deps);
    if (late === null) return { path, kind: 'own' };
    await rm(path);
    return { path: late, kind: 'shared' };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** A new name for the content file, when that holds these very bytes; what is damaged goes. */
async function takeContent(
  bytes: Buffer,
  content: string,
  { staging, hasher }: StageDeps,
): Promise<string | null> {
  const path = staging.nextPath();
  if (!(await tryLink(content, path))) return null;
  const digest = { bytes: bytes.length, hash: hasher.bytes(bytes) };
  const found = await readBodyFile(path, digest, hasher);
  if (found.state === 'found' && found.value.equals(bytes)) return path;
  await rm(path, { recursive: true, force: true });
  if (found.state === 'damaged') await rm(content, { recursive: true, force: true });
  return null;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isMissing(error) || NO_LINK_CODES.has(errorCode(error))) return false;
    throw error;
  }
}
