// `npm run bench:entries`: what a million stored pages cost beside a thousand, on this machine:
// time to start, of a hit, of a sweep; memory and disk. `-- COUNT…` measures other numbers.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGateway } from '../../src/compose/start-gateway.ts';
import type { Measured } from './entries-measure.ts';
import { createSink, writeConfig } from './entries-store.ts';

const run = promisify(execFile);
const COUNTS = [1_000, 1_000_000];

const asked = process.argv.slice(2).map(Number);
const counts = asked.length > 0 ? asked : COUNTS;
const columns: Column[] = [];
for (const count of counts) columns.push(await measure(count));
console.log(formatTable(columns));

interface Column {
  readonly count: number;
  readonly measured: Measured;
  readonly startMs: number;
  readonly buildSeconds: number;
  readonly storeBytes: number;
}

async function measure(count: number): Promise<Column> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-entries-'));
  try {
    const file = await writeConfig(folder);
    const beganAt = performance.now();
    await runScript('entries-build.ts', file, count);
    const buildSeconds = (performance.now() - beganAt) / 1_000;
    console.log(`${count} pages stored in ${buildSeconds.toFixed(0)} s`);
    const { size: storeBytes } = statSync(join(folder, 'data', 'store', 'data.mdb'));
    const startMs = await timeStart(file);
    const measured = JSON.parse(await runScript('entries-measure.ts', file, count)) as Measured;
    return { count, measured, startMs, buildSeconds, storeBytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runScript(name: string, file: string, count: number): Promise<string> {
  const script = join(import.meta.dirname, name);
  const args = ['--import', 'tsx', script, file, String(count)];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 20 });
  return stdout;
}

/** From the call to the open port. */
async function timeStart(file: string): Promise<number> {
  const beganAt = performance.now();
  const gateway = await startGateway({
    file,
    env: {},
    stdout: createSink(),
    stderr: createSink(),
  });
  if (gateway === null) throw new Error('the gateway did not start');
  const startMs = performance.now() - beganAt;
  await gateway.stop();
  return startMs;
}

function formatTable(all: readonly Column[]): string {
  const rows: readonly (readonly [name: string, value: (column: Column) => string])[] = [
    ['pages', ({ count }) => String(count)],
    ['start of a gateway, ms', ({ startMs }) => startMs.toFixed(0)],
    ['of it opening the stores, ms', ({ measured }) => measured.openMs.toFixed(1)],
    ['metadata read, µs of processor', ({ measured }) => measured.getMicros.toFixed(1)],
    ['page looked up, µs of processor', ({ measured }) => measured.lookUpMicros.toFixed(1)],
    ['… and its file read, µs of processor', ({ measured }) => measured.pageMicros.toFixed(1)],
    ['sweep, s of processor', ({ measured }) => measured.sweepCpuSeconds.toFixed(2)],
    [
      '… a page, µs',
      ({ count, measured }) => ((measured.sweepCpuSeconds * 1e6) / count).toFixed(1),
    ],
    ['… longest slice, ms of processor', ({ measured }) => measured.sweepSliceMs.toFixed(1)],
    ['eviction of a page, µs of processor', ({ measured }) => measured.evictMicros.toFixed(0)],
    ['memory with the store open, MB', ({ measured }) => measured.openMb.toFixed(0)],
    ['memory after hits and a sweep, MB', ({ measured }) => measured.sweptMb.toFixed(0)],
    [
      'embedded store on disk, bytes a page',
      ({ count, storeBytes }) => (storeBytes / count).toFixed(0),
    ],
    ['storing them took, s', ({ buildSeconds }) => buildSeconds.toFixed(1)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}${all.map((one) => value(one).padStart(12)).join('')}`,
    )
    .join('\n');
}
