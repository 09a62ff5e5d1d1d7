// Replaces the files of one page by those of its next version. All codings are made and flushed
// before the first is renamed: the moment at which versions are mixed stays as short as it can be.
// The older bytes keep their content file, by which they are found until they are forgotten.
import { rename, rm } from 'node:fs/promises';
import type { BodyRef, BodySet, ContentCoding } from '../../pipeline/ports.ts';
import {
  bodyFolder,
  bodyPath,
  CODINGS,
  type ContentRef,
  contentFolder,
  contentPath,
} from './body-path.ts';
import { errorCode, inspect, unlinkIfThere } from './file-error.ts';
import { ensureOwnFolder } from './own-folder.ts';
import { type StageDeps, type StagedBody, stageBody } from './stage-body.ts';

export interface FileDeps extends StageDeps {
  /** Without links in it. */
  readonly pages: string;
}

type Staged = Partial<Record<ContentCoding, StagedBody>>;

/**
 * Writes all codings of a page; throws what the disk throws and leaves no temporary file.
 *
 * @returns whether another page of the host had this body already
 */
export async function writeBodyFiles(
  ref: BodyRef,
  bodies: BodySet,
  deps: FileDeps,
): Promise<boolean> {
  const { pages, staging } = deps;
  const target = bodyPath(pages, ref, 'identity');
  const staged: Staged = {};
  await staging.prepare();
  try {
    await stageAll(contentOf(ref, bodies, deps), bodies, staged, deps);
    await ensureOwnFolder(bodyFolder(pages, ref));
    const isUnchanged = await isSameFile(staged.identity?.path, target);
    for (const coding of CODINGS) {
      await place(staged[coding]?.path, bodyPath(pages, ref, coding));
    }
    return staged.identity?.kind === 'shared' && !isUnchanged;
  } finally {
    // Also after a rename, which does nothing when both are names of one file.
    for (const body of Object.values(staged)) await unlinkIfThere(body.path);
  }
}

function contentOf({ hostId }: BodyRef, { identity }: BodySet, { hasher }: FileDeps): ContentRef {
  return { hostId, bytes: identity.length, hash: hasher.bytes(identity) };
}

/** A body whose name is taken by other bytes shares no coding either. */
async function stageAll(
  content: ContentRef,
  bodies: BodySet,
  staged: Staged,
  deps: FileDeps,
): Promise<void> {
  await ensureOwnFolder(contentFolder(deps.pages, content));
  const pathOf = (coding: ContentCoding): string => contentPath(deps.pages, content, coding);
  const identity = await stageBody(bodies.identity, pathOf('identity'), deps);
  staged.identity = identity;
  const results = await Promise.allSettled(
    (['gzip', 'br'] as const).map(async (coding) => {
      const bytes = bodies[coding];
      if (bytes === undefined) return;
      staged[coding] = await stageBody(
        bytes,
        identity.kind === 'own' ? null : pathOf(coding),
        deps,
      );
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** @param staged absent: the new version has no such coding, and an older one's file goes */
async function place(staged: string | undefined, target: string): Promise<void> {
  try {
    if (staged === undefined) await unlinkIfThere(target);
    else await rename(staged, target);
  } catch (error) {
    // A folder in its place; some systems say EPERM for unlinking one.
    if (!['EISDIR', 'EPERM'].includes(errorCode(error))) throw error;
    await rm(target, { recursive: true, force: true });
    if (staged !== undefined) await rename(staged, target);
  }
}

async function isSameFile(staged: string | undefined, target: string): Promise<boolean> {
  if (staged === undefined) return false;
  const [a, b] = await Promise.all([inspect(staged), inspect(target)]);
  return a !== null && b !== null && a.ino === b.ino && a.dev === b.dev;
}
