// The BodyFiles port: which pages have files, and which files have no page. Folders are read by
// names, because looking at each of a million files is what makes a sweep slow; a single file is
// looked at only when something is wrong with its page.
import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { BodyRef, Done } from '../../pipeline/ports.ts';
import type { BodyFiles } from '../../pipeline/upkeep-ports.ts';
import { bodyFolder, bodyPath, CODINGS } from './body-path.ts';
import { dropIfLoose } from './content-files.ts';
import { answer, inspect, isMissing } from './file-error.ts';
import { listLooseContent, listPages } from './list-files.ts';

/** From so many pages of one folder on, its names are read instead of asking for each file. */
const FOLDER_READ_MIN = 8;

/** What is kept of the folder that was read last is that of one sweep, not of the one before. */
const NAMES_AGE_MAX_MS = 10_000;

/** A page's own file, its content file, and one more that is about to take the page's place. */
const NAMES_OF_ONE_PAGE = 3;

/** @param sweepStaging removes what dead processes left half-written */
export function createBodyFiles(pages: string, sweepStaging: () => Promise<number>): BodyFiles {
  const findMissing = createFinder(pages);
  return {
    list: async function* list(): AsyncGenerator<Done<readonly BodyRef[]>> {
      const some = listPages(pages);
      for (;;) {
        const next = await answer(() => some.next());
        if (next.state === 'unavailable') {
          yield next;
          return;
        }
        if (next.value.done === true) return;
        yield { state: 'done', value: next.value.value };
      }
    },
    findMissing: (refs) => answer(() => findMissing(refs)),
    findOld: (refs, before) => answer(() => findOld(pages, refs, before)),
    sweepLeftovers: (before) =>
      answer(async () => (await sweepStaging()) + (await sweepContent(pages, before))),
  };
}

interface FolderNames {
  readonly folder: string;
  readonly names: ReadonlySet<string>;
  readonly readAt: number;
}

/** Entries come in the order of their keys, so that one folder is asked for again and again. */
function createFinder(pages: string): (refs: readonly BodyRef[]) => Promise<readonly BodyRef[]> {
  let last: FolderNames | null = null;

  async function isNamed(folder: string, path: string): Promise<boolean> {
    const now = performance.now();
    if (last?.folder !== folder || now - last.readAt > NAMES_AGE_MAX_MS) {
      last = { folder, names: new Set(await readNames(folder)), readAt: now };
    }
    return last.names.has(path.slice(folder.length + 1));
  }

  return async (refs) => {
    const folders = new Map<string, BodyRef[]>();
    for (const ref of refs) {
      const folder = bodyFolder(pages, ref);
      const known = folders.get(folder);
      if (known === undefined) folders.set(folder, [ref]);
      else known.push(ref);
    }
    const missing: BodyRef[] = [];
    for (const [folder, inFolder] of folders) {
      for (const ref of inFolder) {
        const path = bodyPath(pages, ref, 'identity');
        if (inFolder.length >= FOLDER_READ_MIN && (await isNamed(folder, path))) continue;
        // Names may have been read before the file came.
        if ((await inspect(path)) === null) missing.push(ref);
      }
    }
    return missing;
  };
}

async function findOld(
  pages: string,
  refs: readonly BodyRef[],
  before: number,
): Promise<readonly BodyRef[]> {
  const old: BodyRef[] = [];
  for (const ref of refs) {
    const found = await Promise.all(CODINGS.map((coding) => inspect(bodyPath(pages, ref, coding))));
    const files = found.filter((stats) => stats !== null);
    if (files.length > 0 && files.every((stats) => !isYoung(stats, before))) old.push(ref);
  }
  return old;
}

/**
 * A new name changes `ctime`. So does another page's name that went: where there are several others
 * nothing can be told, and such a file counts as old, or a popular body would never be.
 */
function isYoung({ nlink, ctimeMs }: Stats, before: number): boolean {
  return ctimeMs > before && nlink <= NAMES_OF_ONE_PAGE;
}

async function sweepContent(pages: string, before: number): Promise<number> {
  let dropped = 0;
  for await (const some of listLooseContent(pages)) {
    for (const { path, changedAt } of some) {
      if (changedAt <= before && (await dropIfLoose(path))) dropped += 1;
    }
  }
  return dropped;
}

async function readNames(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
