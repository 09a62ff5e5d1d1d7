// A crowd on one cold page, over three gateways of two workers each on one Redis: one render for
// all. And when the worker that renders is killed half-way: two, and nobody is forgotten.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listTree } from '../bench/process-tree.ts';
import { percentile } from '../bench/report.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { findSocketOwner } from '../helpers/socket-owner.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { ask, type Reply } from './stage.ts';

const GATEWAYS = 3;
const WORKERS = 2;
const CRAWLERS = 1_000;
const HTML = `<!doctype html><h1>the page</h1>${'<p>words</p>'.repeat(200)}`;
/** `render.timeout` of these gateways, and the room that storing has. */
const WAIT_BOUND_MS = 15_000 + 5_000;

interface SlowSite {
  readonly url: string;
  /** Local ports of the connections on which the page was asked for. */
  readonly asked: number[];
  readonly answer: () => void;
}

/** A site that holds its answers until it is told to give them. */
async function startSlowSite(): Promise<SlowSite> {
  const asked: number[] = [];
  const held: ServerResponse[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.socket.remotePort ?? 0);
    held.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: () => {
      for (const response of held.splice(0)) {
        response.writeHead(200, { 'content-type': 'text/html' }).end(HTML);
      }
    },
  };
}

async function startGateways(originUrl: string): Promise<readonly GatewayProcess[]> {
  const redis = await startRedisServer();
  onTestFinished(() => redis.stop());
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-crowd-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(
    join(folder, 'hosts.yaml'),
    `hosts:\n  - {id: 1, domain: site.test, origin: "${originUrl}"}\n`,
  );
  await writeFile(
    file,
    [
      `server: {listen: "127.0.0.1:0", workers: ${WORKERS}}`,
      'admin: {listen: "127.0.0.1:0"}',
      'storage: {base_path: ./data, bodies: redis}',
      `redis: {url: "${redis.url}"}`,
      'render: {engine: origin, timeout: 15s}',
      '',
    ].join('\n'),
  );
  return await Promise.all(
    Array.from({ length: GATEWAYS }, async () => {
      const gateway = await startGatewayProcess(file);
      onTestFinished(gateway.kill);
      return gateway;
    }),
  );
}

interface Crowd {
  readonly replies: readonly Promise<Reply>[];
  readonly sent: () => number;
}

function sendCrowd(gateways: readonly GatewayProcess[]): Crowd {
  let sent = 0;
  const question = {
    timeoutMs: WAIT_BOUND_MS + 10_000,
    onSent: () => {
      sent += 1;
    },
  };
  const replies = Array.from({ length: CRAWLERS }, (_, index) =>
    ask(gateways[index % GATEWAYS]?.port ?? 0, '/page', question),
  );
  return { replies, sent: () => sent };
}

function describeTimes(replies: readonly Reply[]): string {
  const times = replies.map(({ durationMs }) => durationMs);
  return `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;
}

describeWithRedis('a crowd on one cold page', () => {
  test('three gateways of two workers render it once', { timeout: 60_000 }, async ({
    annotate,
  }) => {
    const site = await startSlowSite();
    const gateways = await startGateways(site.url);
    const crowd = sendCrowd(gateways);
    await waitUntil('all have asked', () => site.asked.length > 0 && crowd.sent() === CRAWLERS);
    site.answer();
    const replies = await Promise.all(crowd.replies);
    expect(site.asked.length).toBe(1);
    expect(replies.every(({ status, body }) => status === 200 && body === HTML)).toBe(true);
    expect(Math.max(...replies.map(({ durationMs }) => durationMs))).toBeLessThan(WAIT_BOUND_MS);
    await annotate(describeTimes(replies));
  });

  test('the renderer’s worker is killed half-way: two', { timeout: 60_000 }, async ({
    annotate,
  }) => {
    const site = await startSlowSite();
    const gateways = await startGateways(site.url);
    const crowd = sendCrowd(gateways);
    await waitUntil('all have asked', () => site.asked.length === 1 && crowd.sent() === CRAWLERS);
    const workers = gateways.flatMap(({ child }) => listTree(child.pid ?? 0));
    const leader = findSocketOwner(site.asked[0] ?? 0, workers);
    expect(leader).not.toBeNull();
    process.kill(leader ?? 0, 'SIGKILL');
    await waitUntil('somebody else asks for it', () => site.asked.length === 2);
    site.answer();
    const replies = await Promise.all(crowd.replies);
    const served = replies.filter(({ status }) => status === 200);
    // Only those whose connection was to the killed worker have lost it.
    const lost = replies.filter(({ status }) => status !== 200);
    expect(lost.every(({ status, end }) => status === 0 && end !== 'open')).toBe(true);
    expect(served.length).toBeGreaterThan(CRAWLERS / 2);
    expect(served.every(({ body }) => body === HTML)).toBe(true);
    expect(site.asked.length).toBe(2);
    expect(Math.max(...served.map(({ durationMs }) => durationMs))).toBeLessThan(WAIT_BOUND_MS);
    await annotate(`${lost.length} lost with their connection; ${describeTimes(served)}`);
  });
});
