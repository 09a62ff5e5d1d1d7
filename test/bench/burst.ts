// `npm run bench:burst`: two hundred clients at once for one URL that is passed on and may not be
// kept, unknown and known as such, beside the same burst straight to the origin; and for one that
// may be kept. The origin takes its time; what counts is how often a client waits for it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGatewayProcess } from '../scenario/gateway-process.ts';
import { cpuSeconds } from './process-tree.ts';
import { median, percentile } from './report.ts';

const CLIENTS = 200;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 12);
/** Rounds in which programs warm up. */
const FIRST_ROUNDS = 4;

interface Burst {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the gateway for each request. */
  readonly cpuMicros: number;
}

const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-burst-'));
const site = startSite();
const [sitePort] = (await once(site, 'message')) as [number];
const gateway = await startGatewayProcess(await writeConfiguration(sitePort));
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
try {
  const bursts = new Map<string, Burst[]>();
  for (let round = -FIRST_ROUNDS; round < ROUNDS; round += 1) {
    const shots = [
      ['straight to the origin', sitePort, `/own/${round}`],
      ['not to be kept, first', gateway.port, `/own/${round}`],
      ['not to be kept, second', gateway.port, `/own/${round}`],
      ['to be kept, first', gateway.port, `/shared/${round}`],
      ['to be kept, second', gateway.port, `/shared/${round}`],
    ] as const;
    for (const [name, port, target] of shots) {
      const burst = await shoot(port, target);
      if (round >= 0) bursts.set(name, [...(bursts.get(name) ?? []), burst]);
    }
  }
  report(bursts);
} finally {
  agent.destroy();
  site.kill();
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
}

function startSite(): ChildProcess {
  return fork(fileURLToPath(new URL('serve-slow-site.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

async function writeConfiguration(originPort: number): Promise<string> {
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(
    join(folder, 'hosts.yaml'),
    `hosts:
  - id: 1
    domain: bench.test
    origin: "http://127.0.0.1:${originPort}"
    bypass: {cache: {enabled: true, ttl: 0s}}
`,
  );
  await writeFile(
    file,
    `server: {listen: "127.0.0.1:0", workers: 1}
admin: {listen: "127.0.0.1:0"}
storage: {base_path: ./data}
render: {engine: "off"}
`,
  );
  return file;
}

async function shoot(port: number, target: string): Promise<Burst> {
  const before = cpuSeconds(gateway.child.pid ?? 0);
  const timesMs = await Promise.all(Array.from({ length: CLIENTS }, () => ask(port, target)));
  return {
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
    cpuMicros: ((cpuSeconds(gateway.child.pid ?? 0) - before) * 1e6) / CLIENTS,
  };
}

/** Until the last byte. */
function ask(port: number, path: string): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { Host: 'bench.test' };
    request({ host: '127.0.0.1', port, path, agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(performance.now() - startedAt));
      response.once('error', reject);
    })
      .once('error', reject)
      .end();
  });
}

function report(bursts: ReadonlyMap<string, readonly Burst[]>): void {
  const [direct = []] = bursts.values();
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`${CLIENTS} clients, medians of ${ROUNDS} rounds, load ${load.join(' ')}`);
  for (const [name, list] of bursts) {
    const of = (pick: (burst: Burst) => number): number => median(list.map(pick));
    const ratios = list.map(({ p50Ms }, index) => p50Ms / (direct[index]?.p50Ms ?? Number.NaN));
    const cpu = list.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / list.length;
    const isDirect = list === direct;
    const figures = [
      name.padEnd(23),
      `p50 ${of(({ p50Ms }) => p50Ms).toFixed(0)} ms`,
      `p99 ${of(({ p99Ms }) => p99Ms).toFixed(0)} ms`,
      isDirect ? '' : `× ${median(ratios).toFixed(2)}`,
      isDirect ? '' : `${cpu.toFixed(0)} µs of processor a request`,
    ];
    console.log(figures.join('  ').trimEnd());
  }
}
