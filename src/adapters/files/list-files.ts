// What lies in the store, for those who sweep it: read folder by folder, a few hundred files at a
// time, tolerating that files come and go. Names that are none of ours are left out.
import type { Dirent, Stats } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BodyRef } from '../../pipeline/ports.ts';
import { CONTENT_FOLDER } from './body-path.ts';
import { inspect, isMissing } from './file-error.ts';

/** A content file that no page has. */
export interface LooseContent {
  readonly path: string;
  readonly hostId: number;
  readonly bytes: number;
  /** Since when, epoch milliseconds. */
  readonly changedAt: number;
}

const FILES_AT_ONCE = 256;
const HOST_FOLDER = /^[1-9]\d{0,9}$/;
const HEX_FOLDER = /^[0-9a-f]{2}$/;
const PAGE_FILE = /^([0-9a-f]{16})_(0|[1-9]\d{0,9})\.html(\.gz|\.br)?$/;
const CONTENT_FILE = /^[0-9a-f]{16}-(0|[1-9]\d*)(\.gz|\.br)?$/;

interface FoundFile {
  readonly path: string;
  readonly stats: Stats;
}

/** Every page that has a file, known by names alone; a page may come several times. */
export async function* listPages(pages: string): AsyncGenerator<readonly BodyRef[]> {
  for await (const hostId of listHosts(pages)) {
    for await (const folder of listHexFolders(join(pages, String(hostId)))) {
      for await (const names of listNames(folder, (one) => one.isFile(), PAGE_FILE)) {
        const refs = new Map<string, BodyRef>();
        for (const name of names) {
          const [, hash = '', dimensionId = ''] = PAGE_FILE.exec(name) ?? [];
          const ref = { hostId, dimensionId: Number(dimensionId), hash };
          refs.set(`${hash}_${dimensionId}`, ref);
        }
        yield [...refs.values()];
      }
    }
  }
}

/** Every content file that no page has: the last one went while its process was killed. */
export async function* listLooseContent(pages: string): AsyncGenerator<readonly LooseContent[]> {
  for await (const hostId of listHosts(pages)) {
    const folder = join(pages, String(hostId), CONTENT_FOLDER);
    for await (const files of listContentFiles(folder)) {
      const loose = files.filter(({ stats }) => stats.nlink === 1);
      yield loose.map(({ path, stats }) => ({
        path,
        hostId,
        bytes: stats.size,
        changedAt: stats.ctimeMs,
      }));
    }
  }
}

async function* listHosts(pages: string): AsyncGenerator<number> {
  for await (const names of listNames(pages, (one) => one.isDirectory(), HOST_FOLDER)) {
    for (const name of names) yield Number(name);
  }
}

async function* listContentFiles(folder: string): AsyncGenerator<FoundFile[]> {
  for await (const path of listHexFolders(folder)) {
    for await (const names of listNames(path, (one) => one.isFile(), CONTENT_FILE)) {
      const found = await Promise.all(names.map((name) => inspectFile(join(path, name))));
      yield found.filter((one) => one !== null);
    }
  }
}

async function* listHexFolders(folder: string): AsyncGenerator<string> {
  for await (const names of listNames(folder, (one) => one.isDirectory(), HEX_FOLDER)) {
    for (const name of names) yield join(folder, name);
  }
}

/** The names in a folder, some at a time; none for a folder that is not there. */
async function* listNames(
  folder: string,
  isMeant: (one: Dirent) => boolean,
  pattern: RegExp,
): AsyncGenerator<string[]> {
  let names: string[] = [];
  try {
    for await (const one of await opendir(folder, { bufferSize: FILES_AT_ONCE })) {
      if (!isMeant(one) || !pattern.test(one.name)) continue;
      names.push(one.name);
      if (names.length < FILES_AT_ONCE) continue;
      yield names;
      names = [];
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (names.length > 0) yield names;
}

async function inspectFile(path: string): Promise<FoundFile | null> {
  const stats = await inspect(path);
  return stats && { path, stats };
}
