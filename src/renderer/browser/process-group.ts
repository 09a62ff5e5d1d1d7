// A browser's processes as one group, led by the one we started: their memory, and their end. The
// kernel's table is read, not remembered, because the browser starts and ends helpers as it likes.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const PAGE_BYTES = 4_096;
const CHECK_MS = 20;
/** The kernel may need a moment for the memory of a killed process. */
const KILL_TIMEOUT_MS = 5_000;
/** Position of the group in /proc/<pid>/stat, counted behind the name in parentheses. */
const STAT_STATE = 0;
const STAT_GROUP = 2;
const STAT_START = 19;

/** Ids of the living members of a group; empty where the system has no /proc. */
export function listGroup(groupId: number): readonly number[] {
  return listProcesses().filter((pid) => {
    const stat = readStat(pid);
    return stat !== null && stat[STAT_GROUP] === String(groupId) && stat[STAT_STATE] !== 'Z';
  });
}

/** Resident memory of a group in bytes; pages that its members share count for each. */
export function groupRssBytes(groupId: number): number {
  return listGroup(groupId).reduce((sum, pid) => sum + rssBytes(pid), 0);
}

/** When a process was started, in a unit of the kernel's; null when there is none that lives. */
export function processStart(pid: number): string | null {
  const stat = readStat(pid);
  return stat === null || stat[STAT_STATE] === 'Z' ? null : (stat[STAT_START] ?? null);
}

/** The command line of a process, empty when it cannot be read. */
export function commandLine(pid: number): string {
  return readProc(pid, 'cmdline') ?? '';
}

/** Asks a group to end and, after a grace, ends it; true when SIGKILL was needed. */
export async function endGroup(groupId: number, graceMs: number): Promise<boolean> {
  if (!signalGroup(groupId, 'SIGTERM')) return false;
  // A stopped process takes SIGTERM only once it goes on.
  signalGroup(groupId, 'SIGCONT');
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline) {
    if (!signalGroup(groupId, 0)) return false;
    await wait(CHECK_MS);
  }
  return killGroup(groupId);
}

/** Ends at once the groups of all who have this in their command line, and waits until they end. */
export async function endGroupsOf(argument: string): Promise<void> {
  const members = listProcesses().filter((pid) => commandLine(pid).includes(argument));
  const groups = new Set(members.map((pid) => Number(readStat(pid)?.[STAT_GROUP] ?? 0)));
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  for (const groupId of groups) {
    // 0 is our own.
    if (groupId < 2 || !killGroup(groupId)) continue;
    while (listGroup(groupId).length > 0 && performance.now() < deadline) await wait(CHECK_MS);
  }
}

/** Ends a group at once; false when there was none. */
export function killGroup(groupId: number): boolean {
  return signalGroup(groupId, 'SIGKILL');
}

function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch {
    // ESRCH, the only answer we can get for a group of our own: nobody is left.
    return false;
  }
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid));
  } catch {
    // No /proc on this system: memory is then not watched.
    return [];
  }
}

function rssBytes(pid: number): number {
  return Number(readProc(pid, 'statm')?.split(' ')[1] ?? 0) * PAGE_BYTES;
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
