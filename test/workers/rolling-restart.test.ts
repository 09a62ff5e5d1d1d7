// Four workers under load: they are replaced, all of them, twice, and no client that forgives
// nothing sees any of it.
import { expect, test } from 'vitest';
import { isAlive } from '../helpers/is-alive.ts';
import { BOT, page } from '../scenario/stage.ts';
import { startClients } from './steady-clients.ts';
import { countLines, startWorkerGateway, untilTrue } from './worker-gateway.ts';

const WORKERS = 4;
const KEEP_ALIVE = 6;
const NEW_CONNECTIONS = 4;

test('twice under load: zero failures, every worker a new one, every request counted', async () => {
  const gateway = await startWorkerGateway({
    workers: WORKERS,
    origin: ({ target }) => page(`page ${target}`),
  });
  let count = 0;
  const clients = startClients({
    port: gateway.port,
    keepAlive: KEEP_ALIVE,
    newConnections: NEW_CONNECTIONS,
    userAgent: BOT,
    // Some pages are in the store, some have to be fetched.
    target: () => {
      count += 1;
      return count % 4 === 0 ? `/new/${count}` : `/stored/${count % 10}`;
    },
    isRight: ({ status, body }) => status === 200 && body.startsWith('page /'),
  });
  const first = gateway.workers();
  expect(first.size).toBe(WORKERS);

  gateway.child.kill('SIGUSR2');
  await untilTrue('replaced by a signal', () => countLines(gateway.log, 'restarted') === 1);
  const second = gateway.workers();
  const { status, text } = await gateway.admin('/restart', 'POST');
  expect([status, JSON.parse(text)]).toEqual([200, { restarted: true, workers: WORKERS }]);
  const third = gateway.workers();

  const before = clients.answered();
  await untilTrue('requests go on', () => clients.answered() > before + 100);
  await clients.stop();
  expect(clients.failures).toEqual([]);
  for (const [pids, others] of [
    [first, second],
    [second, third],
  ] as const) {
    expect(others.size).toBe(WORKERS);
    expect([...pids.keys()].filter((worker) => others.has(worker))).toEqual([]);
    expect([...pids.values()].filter(isAlive)).toEqual([]);
  }
  expect(await gateway.metric('edge_gateway_requests_total')).toBe(clients.answered());
  expect(await gateway.metric('edge_gateway_workers')).toBe(WORKERS);
  expect(await gateway.metric('edge_gateway_worker_ends_total')).toBe(2 * WORKERS);
  expect(gateway.log.filter(({ level }) => level === 'error')).toEqual([]);
}, 240_000);

test('with one process there is nobody to serve meanwhile: it says so and goes on', async () => {
  const gateway = await startWorkerGateway({ workers: 1, origin: () => page('a page') });
  gateway.child.kill('SIGUSR2');
  await untilTrue('it says so', () => countLines(gateway.log, 'not restarted') === 1);
  expect((await gateway.admin('/restart', 'POST')).status).toBe(409);
  expect((await gateway.admin('/ready')).status).toBe(200);
  expect(gateway.workers().size).toBe(0);
}, 120_000);
