// Measures a store of the entries bench, in a process of its own, and prints what it found as JSON:
// `entries-measure.ts FILE COUNT`.
import { readFileSync } from 'node:fs';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { evictPages, sumBytes } from '../../src/pipeline/upkeep/evict-pages.ts';
import { sweepStore } from '../../src/pipeline/upkeep/sweep-store.ts';
import type { Pace } from '../../src/pipeline/upkeep/upkeep-deps.ts';
import { BODIES, makeBenchPage, makeBody, openBenchStores } from './entries-store.ts';

export interface Measured {
  readonly openMs: number;
  readonly getMicros: number;
  readonly lookUpMicros: number;
  readonly pageMicros: number;
  readonly sweepCpuSeconds: number;
  /** Longest work between two rests. */
  readonly sweepSliceMs: number;
  readonly sweepEntries: number;
  readonly evictMicros: number;
  /** Without pages of mapped files, which the system takes back when it needs them. */
  readonly openMb: number;
  readonly sweptMb: number;
}

const HITS = 20_000;

const [, , file = '', countText = '0'] = process.argv;
const count = Number(countText);
const hasher = await createHasher();
const digests = Array.from({ length: BODIES }, (_, i) => hasher.bytes(makeBody(i)));

const openedAt = performance.now();
const stores = await openBenchStores(file);
const openMs = performance.now() - openedAt;
const memoryOpenMb = memoryMb();

const sample = Array.from({ length: HITS }, () =>
  makeBenchPage(hasher, Math.floor(Math.random() * count), digests),
);
// The first round warms up the compiler, and the file cache.
await hit();
const getMicros = await timeEach(async ({ key }) => {
  const found = await stores.entries.get(key);
  if (found.state !== 'found') throw new Error(found.state);
});
const lookUpMicros = await timeEach(async ({ key, ref, url }) => {
  const found = await stores.pages.lookUp(key, ref, url);
  if (found.state !== 'hit') throw new Error(found.state);
});
const pageMicros = await timeEach(readPage);

const sweptFrom = process.cpuUsage();
const sweepPace = createPace();
const report = await sweepStore(stores.upkeep, sweepPace);
const sweepCpuSeconds = cpuMicros(sweptFrom) / 1e6;
if (report.stoppedBy !== null || report.removed.size > 0) throw new Error(JSON.stringify(report));
const sweptMb = memoryMb();

const measured: Measured = {
  openMs,
  getMicros,
  lookUpMicros,
  pageMicros,
  sweepCpuSeconds,
  sweepSliceMs: sweepPace.longestMs(),
  sweepEntries: report.entries,
  evictMicros: await timeEviction(),
  openMb: memoryOpenMb,
  sweptMb,
};
await stores.close();
console.log(JSON.stringify(measured));

type Page = (typeof sample)[number];

async function readPage({ key, ref, url }: Page): Promise<void> {
  const found = await stores.pages.lookUp(key, ref, url);
  if (found.state !== 'hit') throw new Error(found.state);
  const body = await stores.pages.readBody(found.entry, 'identity');
  if (body.state !== 'found') throw new Error(body.state);
}

async function hit(): Promise<void> {
  for (const page of sample) await readPage(page);
}

async function timeEach(action: (page: Page) => Promise<void>): Promise<number> {
  const from = process.cpuUsage();
  for (const page of sample) await action(page);
  return cpuMicros(from) / sample.length;
}

/** Its rests are as short as can be: the figures are those of the work alone. */
function createPace(): Pace & { readonly longestMs: () => number } {
  let longestMicros = 0;
  let restedAt = process.cpuUsage();
  return {
    rest: async () => {
      longestMicros = Math.max(longestMicros, cpuMicros(restedAt));
      await yieldTurn();
      restedAt = process.cpuUsage();
    },
    isStopped: () => false,
    longestMs: () => longestMicros / 1_000,
  };
}

/** Evicts one page in twenty; the time of each. */
async function timeEviction(): Promise<number> {
  const hosts = await stores.upkeep.usage.countHosts();
  if (hosts.state === 'unavailable') throw new Error(hosts.reason);
  // It goes down to 95 % of the quota.
  const quota = sumBytes(hosts.value) - 1;
  const deps = { ...stores.upkeep, clock: { now: () => Date.now() + 3_600_000 } };
  const from = process.cpuUsage();
  const { pages, stoppedBy } = await evictPages(quota, deps, createPace());
  if (stoppedBy !== null) throw new Error(stoppedBy);
  return cpuMicros(from) / pages;
}

/** Of all threads: on a machine that has other work too, it says more than the time that passed. */
function cpuMicros(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return user + system;
}

function memoryMb(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024;
}
