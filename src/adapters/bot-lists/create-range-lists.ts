// The published address lists on this machine, read from files: the first folder that has a list
// wins. Read at start, on a reload, and every few minutes, since `bots refresh` is another process.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RangeSource } from '../../core/bots/crawlers.ts';
import { compileRangeList, parseRangeFile, type RangeList } from '../../core/bots/range-list.ts';
import type { RangeLists } from '../../pipeline/ports.ts';
import { listFileName } from './list-file.ts';

export interface RangeListsOptions {
  readonly folders: readonly string[];
  readonly sources: readonly RangeSource[];
  /** A file that is there and cannot be used; the last good list stays. */
  readonly onProblem: (file: string, reason: string) => void;
}

const REREAD_MS = 600_000;
/** Far above the longest list there is. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** Reads the lists and keeps them fresh until it is closed. */
export async function openRangeLists(options: RangeListsOptions): Promise<RangeLists> {
  const lists = new Map<string, RangeList>();
  const reload = async (): Promise<void> => {
    for (const { name } of options.sources) {
      const list = await findList(name, options);
      if (list !== null) lists.set(name, list);
    }
  };
  await reload();
  // Every failure of reading is told by onProblem.
  const timer = setInterval(() => void reload(), REREAD_MS).unref();
  return {
    find: (name) => lists.get(name) ?? null,
    reload,
    close: () => clearInterval(timer),
  };
}

async function findList(
  name: string,
  { folders, onProblem }: RangeListsOptions,
): Promise<RangeList | null> {
  for (const folder of folders) {
    const file = join(folder, listFileName(name));
    const text = await readText(file, onProblem);
    if (text === null) continue;
    const parsed = parseRangeFile(text);
    const list = parsed.ok ? compileRangeList(parsed.value) : parsed;
    if (list.ok) return list.value;
    onProblem(file, list.error);
  }
  return null;
}

async function readText(
  file: string,
  onProblem: RangeListsOptions['onProblem'],
): Promise<string | null> {
  try {
    const bytes = await readFile(file);
    if (bytes.length <= FILE_BYTES_MAX) return bytes.toString('utf8');
    onProblem(file, `more than ${FILE_BYTES_MAX} bytes`);
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAbsent) onProblem(file, error instanceof Error ? error.message : String(error));
  }
  return null;
}
