// Several processes fill the same URLs of the bypass cache at the same time, each with an answer of
// its own: whatever is stored in the end is whole, and all variants of a URL are there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { answer, ask, HUMAN } from '../scenario/stage.ts';
import {
  startWorkerGateway,
  untilTrue,
  type WorkerGateway,
  type WorkerGatewayOptions,
} from './worker-gateway.ts';

const URLS = 100;
/** How many ask for each at the same time, on connections of their own. */
const CLIENTS = 4;
const LANGUAGES = ['de', 'en', 'fr', 'it'];
type Shared = Pick<WorkerGatewayOptions, 'gateway' | 'storage'>;
const HOST = 'bypass: {cache: {enabled: true, ttl: 1h}}';

async function startFilling(shared: Shared): Promise<WorkerGateway> {
  let visits = 0;
  const started = await startWorkerGateway({
    workers: 2,
    ...shared,
    host: HOST,
    origin: ({ target }) => {
      visits += 1;
      const fields = target.startsWith('/vary') ? ['Vary: Accept-Language'] : [];
      return answer(200, `${target} ${visits} ${'x'.repeat(visits % 500)}`, ...fields);
    },
  });
  await untilTrue('both serve', () => started.workers().size === 2);
  return started;
}

async function fillAtOnce({ port }: WorkerGateway): Promise<void> {
  for (let url = 0; url < URLS; url += 1) {
    const asked = Array.from({ length: CLIENTS }, () =>
      ask(port, `/one/${url}`, { userAgent: HUMAN }),
    );
    await Promise.all(asked);
  }
}

const askIn = async ({ port }: WorkerGateway, target: string, language: string) =>
  await ask(port, target, { userAgent: HUMAN, headers: [`Accept-Language: ${language}`] });

async function fillVariants(gateway: WorkerGateway): Promise<void> {
  for (let url = 0; url < 10; url += 1) {
    const target = `/vary/${url}`;
    await Promise.all(LANGUAGES.map((language) => askIn(gateway, target, language)));
    for (const language of LANGUAGES) {
      await untilTrue(`${target} in ${language} is stored`, async () => {
        const reply = await askIn(gateway, target, language);
        return reply.header('X-Render-Cache') === 'hit';
      });
    }
  }
}

async function checkFilling(shared: Shared): Promise<void> {
  const gateway = await startFilling(shared);
  await fillAtOnce(gateway);
  await fillVariants(gateway);
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toBe(0);
  const { status, stdout } = await runCommand(['verify', '--json', '-c', gateway.file]);
  expect({ status, problems: /body_damaged|orphan|missing/.exec(stdout)?.input ?? null }).toEqual({
    status: 0,
    problems: null,
  });
}

describe('the embedded store', () => {
  test('two workers fill the same URLs: everything is whole', async () => {
    await checkFilling({});
  }, 180_000);
});

describeWithRedis('a shared store', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(async () => await redis.stop());

  test('two processes fill the same URLs: everything is whole', async () => {
    await checkFilling({ gateway: `redis: {url: "${redis.url}"}`, storage: ', bodies: redis' });
  }, 180_000);
});
