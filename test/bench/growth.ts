// `npm run bench:growth`: what a hit costs with many hosts, rules, stored pages and connections
// beside one of each; and what a store of a million pages costs in memory and at the start. Each
// gateway on core 0, from `dist`, with everything on; they are asked in turns.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../helpers/free-port.ts';
import { listColumns } from './growth/columns.ts';
import { holdConnections } from './growth/idle-connections.ts';
import { CRAWLER, openSubject, type Subject, TARGET, waitForSweep } from './growth/subject.ts';
import { type LoadPlan, type LoadRound, loadServer } from './http/load.ts';
import type { Server } from './http/pinned.ts';
import { startSite } from './http/site.ts';
import { takeTurns } from './http/take-turns.ts';
import { type Resident, residentBytes } from './process-tree.ts';
import { median } from './report.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 2);
/** Until the compiler has seen enough. */
const WARM_UP_SECONDS = 3;
const PAGES = Number(process.env['BENCH_PAGES'] ?? 1_000_000);
const PLAN: Omit<LoadPlan, 'seconds'> = {
  target: TARGET,
  userAgent: CRAWLER,
  coding: 'identity',
  connections: 32,
};

const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-bench-'));
const servers: Server[] = [];
try {
  const sitePort = await findFreePort();
  servers.push(await startSite(join(folder, 'site'), sitePort));
  const subjects: Subject[] = [];
  for (const column of listColumns(PAGES)) {
    const subject = await openSubject(column, { folder, sitePort });
    servers.push(subject.server);
    subjects.push(subject);
    console.log(`${column.name}: starts in ${subject.startMs.toFixed(0)} ms`);
  }
  for (const { server } of subjects)
    await loadServer(server, { ...PLAN, seconds: WARM_UP_SECONDS });
  const unswept = weighAll(subjects);
  for (const subject of subjects) await waitForSweep(subject);
  const rounds = await takeTurns(subjects, ROUNDS, loadSubject);
  console.log(describeHits(rounds));
  console.log(describeMemory(unswept, weighAll(subjects)));
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function loadSubject({ column, server }: Subject): Promise<LoadRound> {
  const release = await holdConnections(server.port, column.idleConnections);
  const round = await loadServer(server, { ...PLAN, seconds: SECONDS });
  release();
  return round;
}

function weighAll(subjects: readonly Subject[]): ReadonlyMap<Subject, Resident> {
  return new Map(subjects.map((subject) => [subject, residentBytes(subject.server.pid)]));
}

function describeHits(rounds: ReadonlyMap<Subject, readonly LoadRound[]>): string {
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
  return [`\na hit of 20 KB: medians of ${ROUNDS} rounds`, ...lines].join('\n');
}

/** The two stores in question are the last. */
function describeMemory(
  unswept: ReadonlyMap<Subject, Resident>,
  swept: ReadonlyMap<Subject, Resident>,
): string {
  const lines = [['before the first sweep', unswept] as const, ['after it', swept] as const].map(
    ([when, all]) => {
      const [few, many] = [...all].slice(-2);
      if (few === undefined || many === undefined) throw new Error('two stores are compared');
      const pages = many[0].column.pages - few[0].column.pages;
      const each = (pick: (one: Resident) => number): string =>
        `${megabytes(pick(few[1]))} → ${megabytes(pick(many[1]))} MB,` +
        ` ${((pick(many[1]) - pick(few[1])) / pages).toFixed(0)} bytes a page`;
      return [
        `${when}: own ${each(({ ownBytes }) => ownBytes)}`,
        `  mapped files ${each(({ mappedBytes }) => mappedBytes)}`,
        `  both ${each(({ ownBytes, mappedBytes }) => ownBytes + mappedBytes)}`,
      ].join('\n');
    },
  );
  return ['\nmemory', ...lines].join('\n');
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}
