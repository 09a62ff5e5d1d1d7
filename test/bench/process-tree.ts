// What a process and all its descendants have used, from the kernel's own books: processor time
// and memory. Time of the dead counts, because whoever reaped them carries it on.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Positions in /proc/<pid>/stat, counted behind the name in parentheses (proc(5)). */
const STAT_PARENT = 1;
const STAT_TIMES = [11, 12, 13, 14];
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The process and its living descendants. */
export function listTree(rootPid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat === null) continue;
    const parent = Number(stat[STAT_PARENT]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [rootPid];
  // Grows while it is walked: each member is followed by its children.
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** User and system time of the tree since it began, in seconds. */
export function cpuSeconds(rootPid: number): number {
  const ticks = listTree(rootPid).flatMap((pid) => {
    const stat = readStat(pid) ?? [];
    return STAT_TIMES.map((position) => Number(stat[position] ?? 0));
  });
  return sum(ticks) / ticksPerSecond;
}

/** Proportional memory of the tree in bytes: a page that several share counts once. */
export function memoryBytes(rootPid: number): number {
  const sizes = listTree(rootPid).map((pid) => {
    const text = readProc(pid, 'smaps_rollup') ?? '';
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0);
  });
  return sum(sizes) * 1_024;
}

export interface Resident {
  /** The processes' own. */
  readonly ownBytes: number;
  /** Pages of mapped files, such as an embedded store's: the system takes them back. */
  readonly mappedBytes: number;
}

/** What the tree has in memory, by whose it is. */
export function residentBytes(rootPid: number): Resident {
  const texts = listTree(rootPid).map((pid) => readProc(pid, 'status') ?? '');
  const bytesOf = (row: string): number =>
    sum(
      texts.map((text) => Number(new RegExp(`^${row}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)),
    ) * 1_024;
  return { ownBytes: bytesOf('RssAnon'), mappedBytes: bytesOf('RssFile') };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function readStat(pid: number): readonly string[] | null {
  const text = readProc(pid, 'stat');
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    // It ended between the listing and now.
    return null;
  }
}
