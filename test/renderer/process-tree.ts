// Processes and their offspring, read from the kernel's table.
import { readdirSync, readFileSync } from 'node:fs';
import { commandLine } from '../../src/renderer/browser/process-group.ts';

/** The living children of a process, theirs and so on, with their command lines. */
export function listOffspring(pid: number): ReadonlyMap<number, string> {
  const parents = readParents();
  const found = new Map<number, string>();
  const add = (parent: number): void => {
    for (const [child, itsParent] of parents) {
      if (itsParent !== parent || found.has(child)) continue;
      found.set(child, commandLine(child));
      add(child);
    }
  };
  add(pid);
  return found;
}

/** Those of some processes that still run; a zombie does not. */
export function stillRunning(pids: Iterable<number>): readonly number[] {
  const living = readParents();
  return [...pids].filter((pid) => living.has(pid));
}

function readParents(): ReadonlyMap<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state !== 'Z') parents.set(Number(name), Number(parent));
    } catch {
      // It ended between the listing and now.
    }
  }
  return parents;
}
