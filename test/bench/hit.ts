// `npm run bench:hit` and `bench:bypass`: processor time a request of the whole gateway beside
// nginx and Varnish, each on one core, in turns; and of what Node takes for the bytes alone.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../helpers/free-port.ts';
import {
  type Mode,
  startBareNode,
  startEdgeGateway,
  startNginx,
  startVarnish,
} from './http/contenders.ts';
import { type LoadPlan, type LoadRound, loadServer, PACE, PAUSE_MS } from './http/load.ts';
import type { Server } from './http/pinned.ts';
import { SIZES_KB, startSite, targetOf } from './http/site.ts';
import { takeTurns } from './http/take-turns.ts';
import { median } from './report.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 2);
const CONNECTIONS = 32;
const PACED_KB = 20;
const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0.0.0 Safari/537.36';

const mode: Mode = process.argv[2] === 'bypass' ? 'bypass' : 'hit';
const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-bench-'));
const servers: Server[] = [];
try {
  const sitePort = await findFreePort();
  servers.push(await startSite(join(folder, 'site'), sitePort));
  const setting = { folder, sitePort };
  const contenders = [
    await startEdgeGateway(setting),
    await startNginx(setting, mode),
    await startVarnish(setting, mode),
    await startBareNode(setting, mode),
  ];
  servers.push(...contenders);
  console.log(
    `${ROUNDS} rounds of ${SECONDS} s each, ${CONNECTIONS} connections; medians\n` +
      `load of the machine: ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`,
  );
  for (const sizeKb of SIZES_KB) {
    for (const coding of ['identity', 'br'] as const) await compare(contenders, sizeKb, coding);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function compare(
  contenders: readonly Server[],
  sizeKb: number,
  coding: LoadPlan['coding'],
): Promise<void> {
  const userAgent = mode === 'hit' ? CRAWLER : BROWSER;
  const target = targetOf(sizeKb);
  const plan = { target, userAgent, coding, connections: CONNECTIONS };
  for (const one of contenders) await loadServer(one, { ...plan, seconds: 1 });
  const rounds = await takeTurns(contenders, ROUNDS, (one) =>
    loadServer(one, { ...plan, seconds: SECONDS }),
  );
  const ours = rounds.get(contenders[0] as Server) ?? [];
  console.log(`\n${mode}, ${sizeKb} KB, ${coding}`);
  for (const [server, list] of rounds) console.log(describe(server.name, list, ours));
  if (sizeKb === PACED_KB && coding === 'identity') await comparePaced(rounds, plan);
}

/** Each at half of what it can do: what a request waits for when nobody has to queue. */
async function comparePaced(
  saturated: ReadonlyMap<Server, readonly LoadRound[]>,
  plan: Omit<LoadPlan, 'seconds'>,
): Promise<void> {
  const pace = join(folder, 'pace.lua');
  await writeFile(pace, PACE);
  const rounds = await takeTurns([...saturated.keys()], ROUNDS, (one) => {
    const perSecond = median((saturated.get(one) ?? []).map((round) => round.perSecond)) / 2;
    const connections = Math.max(1, Math.round((perSecond * PAUSE_MS) / 1_000));
    return loadServer(one, { ...plan, pace, connections, seconds: SECONDS });
  });
  console.log('the same, each at half of what it can do');
  const ours = rounds.get([...saturated.keys()][0] as Server) ?? [];
  for (const [server, list] of rounds) console.log(describe(server.name, list, ours));
}

function describe(server: string, list: readonly LoadRound[], ours: readonly LoadRound[]): string {
  const of = (pick: (round: LoadRound) => number): number => median(list.map(pick));
  const ratio = median(
    ours.map((round, index) => round.cpuMicros / (list[index]?.cpuMicros ?? Number.NaN)),
  );
  const wrong = list.reduce((sum, round) => sum + round.wrong, 0);
  return [
    server.padEnd(13),
    `${of(({ cpuMicros }) => cpuMicros).toFixed(1)} µs of processor`,
    `${of(({ perSecond }) => perSecond).toFixed(0)} req/s`,
    `p50 ${of(({ p50Ms }) => p50Ms).toFixed(2)} ms`,
    `p99 ${of(({ p99Ms }) => p99Ms).toFixed(2)} ms`,
    server === 'edge-gateway' ? '' : `edge-gateway takes ${ratio.toFixed(2)} times its processor`,
    wrong > 0 ? `${wrong} wrong` : '',
  ]
    .join('  ')
    .trimEnd();
}
