// `npm run bench:growth`: what a hit costs with many hosts, rules, stored pages and connections
// beside one of each; and what a store of a million pages costs in memory and at the start. Each
// gateway on core 0, from `dist`, with everything on; they are asked in turns.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../helpers/free-port.ts';
import { CONFIGURED, type Column, FIRST, storedColumns } from './growth/columns.ts';
import { holdConnections } from './growth/idle-connections.ts';
import { describeHits, describeMemory, describeStart, type Rounds } from './growth/report.ts';
import {
  CRAWLER,
  mayBeSwept,
  openSubject,
  type Subject,
  TARGET,
  waitForSweeping,
} from './growth/subject.ts';
import type { Setting } from './http/contenders.ts';
import { type LoadPlan, type LoadRound, loadServer } from './http/load.ts';
import type { Server } from './http/pinned.ts';
import { startSite } from './http/site.ts';
import { takeTurns } from './http/take-turns.ts';

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
  const setting = { folder, sitePort };
  const [first] = await openAll([FIRST], setting);
  if (first === undefined) throw new Error('the first column is open');
  const configured = await openAll(CONFIGURED, setting);
  console.log(describeHits(await compare([first, ...configured])));
  const [few, many] = storedColumns(PAGES);
  const stored = await openAll([few, many], setting);
  const rounds = await compare([first, ...stored]);
  const isBesideSweep = stored.slice(-1).some(mayBeSwept);
  console.log(describeHits(rounds));
  if (isBesideSweep) console.log('too many rounds: the last ones ran beside the first sweep');
  console.log(describeMemory('before the first sweep', stored));
  for (const subject of stored) await waitForSweeping(subject);
  console.log(describeMemory('while everything is swept', stored));
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function openAll(columns: readonly Column[], setting: Setting): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const column of columns) {
    const subject = await openSubject(column, setting);
    servers.push(subject.server);
    subjects.push(subject);
    console.log(describeStart(subject));
  }
  return subjects;
}

async function compare(subjects: readonly Subject[]): Promise<Rounds> {
  for (const subject of subjects) await loadSubject(subject, WARM_UP_SECONDS);
  return await takeTurns(subjects, ROUNDS, (subject) => loadSubject(subject, SECONDS));
}

async function loadSubject({ column, server }: Subject, seconds: number): Promise<LoadRound> {
  const release = await holdConnections(server.port, column.idleConnections);
  const round = await loadServer(server, { ...PLAN, seconds });
  release();
  return round;
}
