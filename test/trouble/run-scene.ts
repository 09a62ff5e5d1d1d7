// One trouble under load: gateways in processes of their own on one store, a steady crowd of
// crawlers, and at some moment something happens to the store. Every answer is looked at.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { percentile } from '../bench/report.ts';
import { type Shot, startLoad } from '../helpers/load.ts';
import { type GatewayProcess, startGatewayProcess } from '../scenario/gateway-process.ts';
import { ask } from '../scenario/stage.ts';

/** What the store is, and what happens to it. */
export interface Scene {
  /** Lines of edge-gateway.yaml that name the store. */
  readonly gateway: string;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface ScenePlan {
  readonly gateways: number;
  readonly perSecond: number;
  /** Before, while and after the trouble. */
  readonly partMs: number;
}

export interface PartFigures {
  readonly requests: number;
  readonly hitShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface SceneFigures {
  readonly before: PartFigures;
  readonly during: PartFigures;
  readonly after: PartFigures;
  /** From the end of the trouble to the first second of hits only; null: not within the part. */
  readonly recoveredMs: number | null;
  /** Answers with a status of 500 or more, each once. */
  readonly serverErrors: readonly string[];
  /** Answers that were not the page of their URL. */
  readonly wrong: readonly string[];
  readonly failures: readonly string[];
}

const TARGETS = 200;
const CONNECTIONS = 20;
const HIT = /X-Render-Cache: (hit|stale)/i;

/** Plays one scene from a cold start to its end; leaves nothing running. */
export async function runScene(scene: Scene, plan: ScenePlan): Promise<SceneFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-trouble-'));
  const origin = await startPages();
  const gateways: GatewayProcess[] = [];
  try {
    const file = await writeConfiguration(folder, origin.url, scene.gateway);
    for (let index = 0; index < plan.gateways; index += 1) {
      gateways.push(await startGatewayProcess(file));
    }
    const ports = gateways.map(({ port }) => port);
    for (let index = 0; index < TARGETS; index += 1) await ask(ports[0] ?? 0, targetOf(index));
    return await play(scene, plan, ports);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await scene.close();
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function play(
  scene: Scene,
  { perSecond, partMs }: ScenePlan,
  ports: readonly number[],
): Promise<SceneFigures> {
  const shots: Shot[] = [];
  let count = 0;
  const next = (): string => {
    count += 1;
    return targetOf((count * 7) % TARGETS);
  };
  const load = startLoad({
    ports,
    connections: CONNECTIONS,
    perSecond,
    next,
    onShot: (shot) => void shots.push(shot),
  });
  await wait(partMs);
  const beganAt = performance.now();
  await scene.begin();
  await wait(partMs);
  await scene.end();
  const endedAt = performance.now();
  await wait(partMs);
  const { failures } = await load.stop();
  return {
    before: figuresOf(shots.filter(({ sentAt }) => sentAt < beganAt)),
    during: figuresOf(shots.filter(({ sentAt }) => sentAt >= beganAt && sentAt < endedAt)),
    after: figuresOf(shots.filter(({ sentAt }) => sentAt >= endedAt)),
    recoveredMs: findRecovery(shots, endedAt),
    serverErrors: shots.filter(({ status }) => status >= 500).map(describeShot),
    wrong: shots.filter((shot) => !isRight(shot)).map(describeShot),
    failures,
  };
}

function figuresOf(shots: readonly Shot[]): PartFigures {
  const times = shots.map(({ tookMs }) => tookMs);
  return {
    requests: shots.length,
    hitShare: shots.filter(({ head }) => HIT.test(head)).length / Math.max(1, shots.length),
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: percentile(times, 1),
  };
}

/** The last answer that was no hit ends the recovery. */
function findRecovery(shots: readonly Shot[], endedAt: number): number | null {
  const later = shots.filter(({ sentAt }) => sentAt >= endedAt);
  const misses = later.filter(({ head }) => !HIT.test(head)).map(({ sentAt }) => sentAt);
  const last = Math.max(endedAt, ...misses);
  const hasHitsBehind = later.some(({ sentAt }) => sentAt > last);
  return hasHitsBehind ? last - endedAt : null;
}

function isRight({ status, target, body }: Shot): boolean {
  return status === 200 && body.includes(`<h1>${target}</h1>`);
}

function describeShot({ port, status, target, body }: Shot): string {
  return `${port} ${target}: ${status} ${body.slice(0, 60)}`;
}

function targetOf(index: number): string {
  return `/page/${index}`;
}

async function writeConfiguration(folder: string, origin: string, store: string): Promise<string> {
  const file = join(folder, 'edge-gateway.yaml');
  const hosts = `hosts:\n  - {id: 1, domain: site.test, origin: "${origin}"}\n`;
  await writeFile(join(folder, 'hosts.yaml'), hosts);
  const lines = [
    'server: {listen: "127.0.0.1:0"}',
    'admin: {listen: "127.0.0.1:0"}',
    'storage: {base_path: ./data}',
    'render: {engine: origin}',
    'log: {level: info}',
    store,
    '',
  ];
  await writeFile(file, lines.join('\n'));
  return file;
}

/** A site whose pages say their own path. */
async function startPages(): Promise<{
  readonly url: string;
  readonly close: () => Promise<void>;
}> {
  const server = createServer((request, response) => {
    const body = `<!doctype html><h1>${request.url ?? ''}</h1>${'<p>words</p>'.repeat(50)}`;
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
