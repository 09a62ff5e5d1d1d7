// Processes that end by themselves, under load: a worker takes along only what it was answering, and
// is replaced; without the primary process the workers end; what can't start says so once.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAlive } from '../helpers/is-alive.ts';
import { ask, BOT, page } from '../scenario/stage.ts';
import { startClients } from './steady-clients.ts';
import { childrenOf, startWorkerGateway, untilTrue } from './worker-gateway.ts';

const TIMEOUT_MS = 240_000;
/** Counts are fetched each second; the rest is for a machine that is busy. */
const GATHERED_MS = 2_500;

test(
  'kill -9 of a worker: what it was answering fails at once, nothing else, thrice',
  async () => {
    const gateway = await startWorkerGateway({ workers: 3, origin: () => page('a page') });
    let count = 0;
    const clients = startClients({
      port: gateway.port,
      keepAlive: 4,
      newConnections: 4,
      userAgent: BOT,
      target: () => {
        count += 1;
        return `/${count % 50}`;
      },
      isRight: ({ status, body }) => status === 200 && body === 'a page',
    });
    await untilTrue('requests go', () => clients.answered() > 100);
    for (let round = 1; round <= 3; round += 1) {
      const [[worker = 0, pid = 0] = []] = gateway.workers();
      process.kill(pid, 'SIGKILL');
      await untilTrue('its end is noticed', () => !gateway.workers().has(worker));
      await untilTrue('another one serves', () => gateway.workers().size === 3);
      const before = clients.answered();
      await untilTrue('requests go on', () => clients.answered() > before + 100);
    }
    await clients.stop();
    // A client has one request under way; what had not been taken yet went to another worker.
    expect(clients.failures.length).toBeLessThanOrEqual(3 * 8);
    expect(clients.failures.filter((text) => !/ECONNRESET|hang up/.test(text))).toEqual([]);
    expect(await gateway.metric('edge_gateway_worker_ends_total')).toBe(3);
    expect((await gateway.admin('/ready')).status).toBe(200);
  },
  TIMEOUT_MS,
);

test(
  'all workers at once: who connects meanwhile waits, and the port stays',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    for (const pid of gateway.workers().values()) process.kill(pid, 'SIGKILL');
    await untilTrue('both are gone', async () => (await gateway.admin('/ready')).status === 503);
    const clients = startClients({
      port: gateway.port,
      keepAlive: 0,
      newConnections: 1,
      userAgent: BOT,
      target: () => '/page',
      isRight: ({ status }) => status === 200,
      timeoutMs: 60_000,
    });
    await untilTrue('it is answered', () => clients.answered() > 0);
    await clients.stop();
    expect(clients.failures).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  'counters never fall, whoever ends',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    for (let index = 0; index < 20; index += 1) await ask(gateway.port, '/');
    const before = await gateway.metric('edge_gateway_requests_total');
    expect(before).toBe(20);
    for (const pid of gateway.workers().values()) process.kill(pid, 'SIGKILL');
    await untilTrue('both are gone', () => gateway.workers().size === 0);
    expect(await gateway.metric('edge_gateway_requests_total')).toBe(before);
    await untilTrue('new ones serve', () => gateway.workers().size === 2);
    await ask(gateway.port, '/');
    expect(await gateway.metric('edge_gateway_requests_total')).toBe(before + 1);
  },
  TIMEOUT_MS,
);

test(
  'what killed workers counted until a moment ago is not lost, though nobody looked',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    for (let index = 0; index < 5; index += 1) await ask(gateway.port, '/');
    await wait(GATHERED_MS);
    expect(gateway.workers().size).toBe(2);
    for (const pid of gateway.workers().values()) process.kill(pid, 'SIGKILL');
    await untilTrue('both are gone', () => gateway.workers().size === 0);
    expect(await gateway.metric('edge_gateway_requests_total')).toBe(5);
  },
  TIMEOUT_MS,
);

test(
  'kill -9 of the primary process while a worker starts: it ends too, without a word',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    gateway.child.kill('SIGUSR2');
    let pids = await childrenOf(gateway);
    await untilTrue('one starts', async () => {
      pids = await childrenOf(gateway);
      return pids.length > 2;
    });
    gateway.child.kill('SIGKILL');
    await gateway.ended;
    await untilTrue('all end', () => !pids.some(isAlive));
    expect(gateway.complaints()).toBe('');
  },
  TIMEOUT_MS,
);

test(
  'kill -9 of the primary process leaves nobody behind',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    const pids = [...gateway.workers().values()];
    gateway.child.kill('SIGKILL');
    await gateway.ended;
    await untilTrue('the workers end', () => !pids.some(isAlive));
  },
  TIMEOUT_MS,
);

test(
  'a port that is taken: one sentence, status 1, no worker',
  async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const gateway = await startWorkerGateway({
      workers: 2,
      origin: () => page('a page'),
      gateway: `integration: {enabled: true, listen: "127.0.0.1:${port}"}\n`,
    });
    expect(await gateway.ended).toBe(1);
    const text = `edge-gateway: port ${port} is in use; stop what uses it, or change integration.listen\n`;
    expect(gateway.complaints()).toBe(text);
    expect(gateway.workers().size).toBe(0);
    taken.close();
  },
  TIMEOUT_MS,
);

test(
  'what no worker can start with is said once, and the status is 1',
  async () => {
    const gateway = await startWorkerGateway({
      workers: 3,
      origin: () => page('a page'),
      // Readable, and no certificate.
      server:
        ', tls: {enabled: true, listen: "127.0.0.1:0", cert_file: hosts.yaml, key_file: hosts.yaml}',
    });
    expect(await gateway.ended).toBe(1);
    expect(gateway.complaints()).toMatch(/^edge-gateway: .+\n$/);
    expect(gateway.complaints()).toMatch(/PEM|no start line/i);
  },
  TIMEOUT_MS,
);
