// What the growth bench has found, in words.
import type { LoadRound } from '../http/load.ts';
import { residentBytes } from '../process-tree.ts';
import { median } from '../report.ts';
import type { Subject } from './subject.ts';

export type Rounds = ReadonlyMap<Subject, readonly LoadRound[]>;

/** From the start of the process to its first answer. */
export function describeStart({ column, startMs, startCpuMs }: Subject): string {
  const work = `${startCpuMs.toFixed(0)} ms of processor`;
  return `${column.name}: answers ${startMs.toFixed(0)} ms after its start, ${work}`;
}

/** One line a column; the first is what the others are compared with, round by round. */
export function describeHits(rounds: Rounds): string {
  const [first = []] = rounds.values();
  const lines = [...rounds].map(([{ column }, list]) => {
    const of = (pick: (round: LoadRound) => number): number => median(list.map(pick));
    const ratios = list.map(({ cpuMicros }, i) => cpuMicros / (first[i]?.cpuMicros ?? Number.NaN));
    const wrong = list.reduce((sum, round) => sum + round.wrong, 0);
    return [
      column.name.padEnd(18),
      `${of(({ cpuMicros }) => cpuMicros).toFixed(1)} µs of processor`,
      `× ${median(ratios).toFixed(2)}`,
      `${of(({ perSecond }) => perSecond).toFixed(0)} req/s`,
      `p99 ${of(({ p99Ms }) => p99Ms).toFixed(2)} ms`,
      wrong > 0 ? `${wrong} wrong` : '',
    ].join('  ');
  });
  return [`\na hit of 20 KB: medians of ${first.length} rounds`, ...lines].join('\n');
}

/** What the pages of the last store need beyond those of the first. */
export function describeMemory(when: string, stored: readonly Subject[]): string {
  const [few, many] = [stored[0], stored.at(-1)];
  if (few === undefined || many === undefined) throw new Error('two stores are compared');
  const pages = many.column.pages - few.column.pages;
  const [before, after] = [few, many].map(({ server }) => residentBytes(server.pid));
  const rows = (['ownBytes', 'mappedBytes'] as const).map((kind) => {
    const [from, to] = [before?.[kind] ?? Number.NaN, after?.[kind] ?? Number.NaN];
    const each = `${((to - from) / pages).toFixed(0)} bytes a page`;
    const name = kind === 'ownBytes' ? 'its own' : 'mapped files';
    return `${name.padEnd(18)}${megabytes(from)} → ${megabytes(to)} MB  ${each}`;
  });
  return [`\nmemory ${when}`, ...rows].join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}
