// `npm run bench:purge`: a thousand purges under load, over two gateways of two workers each on one
// Redis, with the messages between them and without, and over the workers of one embedded store.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../helpers/free-port.ts';
import { startRedisRelay } from '../helpers/redis-relay.ts';
import { startRedisServer } from '../helpers/redis-server.ts';
import { type GatewayProcess, startGatewayProcess } from '../scenario/gateway-process.ts';
import { ask } from '../scenario/stage.ts';
import { type PurgeFigures, runPurges, startVersionedSite, targetOf } from './run-purges.ts';

const PURGES = Number(process.env['BENCH_PURGES'] ?? 1_000);
const PER_SECOND = Number(process.env['BENCH_RATE'] ?? 5_000);
const TARGETS = 50;

interface Stage {
  readonly gateways: number;
  /** Lines that name the store. */
  readonly store: string;
  /** What happens once the load is about to begin. */
  readonly begin?: () => void;
}

const redis = await startRedisServer();
const relay = await startRedisRelay(redis.port);
try {
  report('Redis, 2 × 2 workers', await play({ gateways: 2, store: storeOn(redis.url) }));
  report(
    'Redis, messages cut',
    await play({ gateways: 2, store: storeOn(relay.url), begin: relay.cutMessages }),
  );
  report('embedded, 2 workers', await play({ gateways: 1, store: '' }));
} finally {
  await relay.close();
  await redis.stop();
}

function storeOn(url: string): string {
  return `redis: {url: "${url}"}`;
}

async function play({ gateways, store, begin }: Stage): Promise<PurgeFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-purges-'));
  const site = await startVersionedSite();
  const running: GatewayProcess[] = [];
  const adminPorts: number[] = [];
  try {
    const hosts = `hosts:\n  - {id: 1, domain: site.test, origin: "${site.url}"}\n`;
    await writeFile(join(folder, 'hosts.yaml'), hosts);
    for (let index = 0; index < gateways; index += 1) {
      const adminPort = await findFreePort();
      const file = join(folder, `edge-gateway-${index}.yaml`);
      await writeFile(
        file,
        [
          'server: {listen: "127.0.0.1:0", workers: 2}',
          `admin: {listen: "127.0.0.1:${adminPort}"}`,
          'storage: {base_path: ./data}',
          'render: {engine: origin}',
          store,
          '',
        ].join('\n'),
      );
      running.push(await startGatewayProcess(file));
      adminPorts.push(adminPort);
    }
    const ports = running.map(({ port }) => port);
    for (let index = 0; index < TARGETS; index += 1) await ask(ports[0] ?? 0, targetOf(index));
    begin?.();
    const load = { perSecond: PER_SECOND, connections: 32, targets: TARGETS, purges: PURGES };
    return await runPurges({ ports, adminPorts, site, ...load });
  } finally {
    await Promise.all(running.map((gateway) => gateway.stop()));
    await site.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(name: string, figures: PurgeFigures): void {
  const { purges, requestsPerSecond, hitShare, p50Ms, p99Ms, maxMs, stale, failed } = figures;
  const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(1)} ms`;
  const load = `${requestsPerSecond.toFixed(0)} req/s, ${(hitShare * 100).toFixed(0)} % hits`;
  console.log(`${name}: ${purges} purges (${load}): ${times}; older pages: ${stale.length}`);
  for (const line of [...stale, ...failed].slice(0, 5)) console.log(`  ${line}`);
}
