// What lies in the store, for those who sweep it: read folder by folder, a few hundred files at a
// time, tolerating that files come and go. Names that are none of ours are left out.
import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BodyRef, ContentCoding } from '../../pipeline/ports.ts';
import { CODINGS, CONTENT_FOLDER, SUFFIX } from './body-path.ts';
import { isMissing } from './file-error.ts';

/** One file of a page. */
export interface PageFile {
  readonly ref: BodyRef;
  readonly coding: ContentCoding;
  readonly bytes: number;
  /** How many names the file has: pages that share it, and the content file. */
  readonly names: number;
  /** When it got this name or another, epoch milliseconds. */
  readonly changedAt: number;
}

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
  readonly name: string;
  readonly stats: Stats;
}

/** Every file of every page. */
export async function* listPageFiles(pages: string): AsyncGenerator<readonly PageFile[]> {
  for await (const hostId of listHosts(pages)) {
    for await (const files of listHexFolders(join(pages, String(hostId)), PAGE_FILE)) {
      yield files.flatMap(({ name, stats }) => {
        const [, hash, dimensionId, suffix = ''] = PAGE_FILE.exec(name) ?? [];
        const coding = CODINGS.find((one) => SUFFIX[one] === suffix);
        if (hash === undefined || coding === undefined) return [];
        const ref = { hostId, dimensionId: Number(dimensionId), hash };
        const { size, nlink, ctimeMs } = stats;
        return [{ ref, coding, bytes: size, names: nlink, changedAt: ctimeMs }];
      });
    }
  }
}

/** Every content file that no page has: the last one went while its process was killed. */
export async function* listLooseContent(pages: string): AsyncGenerator<readonly LooseContent[]> {
  for await (const hostId of listHosts(pages)) {
    const folder = join(pages, String(hostId), CONTENT_FOLDER);
    for await (const files of listHexFolders(folder, CONTENT_FILE)) {
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

async function* listHexFolders(folder: string, file: RegExp): AsyncGenerator<FoundFile[]> {
  for await (const folders of listNames(folder, (one) => one.isDirectory(), HEX_FOLDER)) {
    for (const hex of folders) {
      const path = join(folder, hex);
      for await (const names of listNames(path, (one) => one.isFile(), file)) {
        const found = await Promise.all(names.map((name) => inspect(join(path, name), name)));
        yield found.filter((one) => one !== null);
      }
    }
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

async function inspect(path: string, name: string): Promise<FoundFile | null> {
  try {
    return { path, name, stats: await lstat(path) };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
