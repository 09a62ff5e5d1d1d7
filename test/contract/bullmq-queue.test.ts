// The queue on Redis under the contract; then what only a shared queue can do and suffer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type BullmqQueueOptions,
  createBullmqQueue,
} from '../../src/adapters/bullmq/create-bullmq-queue.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import type { RedisTarget } from '../../src/core/redis-target.ts';
import type { RefreshJob } from '../../src/core/refresh/refresh-job.ts';
import type { FinishedRefresh, RefreshQueue } from '../../src/pipeline/refresh-ports.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  createGate,
  describeRefreshQueue,
  JOBS_MAX,
  makeJob,
  type QueueSubject,
  STORED,
} from './refresh-queue.contract.ts';

/** A busy test machine must not look like a Redis that fails. */
const PATIENCE_MS = 10_000;

interface OpenQueue extends QueueSubject {
  readonly warnings: readonly string[];
}

/** A queue that can take jobs. */
async function open(
  target: RedisTarget,
  options: Partial<BullmqQueueOptions> = {},
): Promise<OpenQueue> {
  const defects: unknown[] = [];
  const warnings: string[] = [];
  const queue = createBullmqQueue({
    target,
    clock: systemClock,
    onWarning: ({ kind }) => warnings.push(kind),
    onDefect: (error) => defects.push(error),
    jobsMax: JOBS_MAX,
    timeoutMs: PATIENCE_MS,
    ...options,
  });
  await waitUntil('the queue is there', async () => (await queue.count()).state === 'done');
  return { queue, defects, warnings, dispose: queue.close };
}

async function openForTest(
  target: RedisTarget,
  options: Partial<BullmqQueueOptions> = {},
): Promise<OpenQueue> {
  const opened = await open(target, options);
  onTestFinished(opened.dispose);
  return opened;
}

/** Runs jobs of a queue and tells of which. */
function work(queue: RefreshQueue): readonly RefreshJob[] {
  const seen: RefreshJob[] = [];
  queue.work(
    async (job) => {
      seen.push(job);
      return STORED;
    },
    () => 1,
  );
  return seen;
}

describeWithRedis('BullMQ', () => {
  let server: RedisServer;
  let target: RedisTarget;
  beforeAll(async () => {
    server = await startRedisServer();
    target = { kind: 'single', url: server.url };
  });
  afterAll(() => server.stop());

  const empty = async (): Promise<void> => {
    const raw = new Redis(server.url);
    await raw.flushall();
    await raw.quit();
  };

  describeRefreshQueue('bullmq', async () => {
    await empty();
    return await open(target);
  });

  describe('shared', () => {
    test('jobs outlive the process that added them', async () => {
      await empty();
      const first = await open(target);
      await first.queue.add(makeJob(1, { reason: 'recache' }));
      await first.dispose();
      const second = await openForTest(target);
      const seen = work(second.queue);
      await waitUntil('it is taken up', () => seen.length === 1);
      expect(seen[0]).toEqual(makeJob(1, { reason: 'recache' }));
    });

    test('two machines share the work, and each hears of all of it', async () => {
      await empty();
      const both = [await openForTest(target), await openForTest(target)] as const;
      const gates = both.map(({ queue }) => {
        const gate = createGate();
        queue.work(gate.run, () => 1);
        return gate;
      });
      const heard = both.map(({ queue }) => {
        const finished: FinishedRefresh[] = [];
        queue.onFinished((one) => finished.push(one));
        return finished;
      });
      await both[0].queue.add(makeJob(1));
      await both[0].queue.add(makeJob(2));
      await waitUntil('each has one', () => gates.every(({ taken }) => taken.length === 1));
      for (const { taken } of gates) taken[0]?.end(STORED);
      await waitUntil('all is heard', () => heard.every((finished) => finished.length === 2));
    });

    test('the job of a process that died is taken over once', async () => {
      await empty();
      const times = { lockTimeoutMs: 500, checkIntervalMs: 200, closeTimeoutMs: 1 };
      const first = await open(target, times);
      const gate = createGate();
      first.queue.work(gate.run, () => 1);
      await first.queue.add(makeJob(1));
      await waitUntil('it runs', () => gate.taken.length === 1);
      await first.dispose();
      const second = await openForTest(target, times);
      const seen = work(second.queue);
      await waitUntil('it is taken over', () => seen.length === 1);
      await waitUntil('nothing is left', async () => await isEmpty(second.queue));
      expect(seen).toEqual([makeJob(1)]);
    });

    test('needs no more than the rights that the README gives a user', async () => {
      await empty();
      const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
      const rights = /ACL SETUSER (gateway on >PASSWORD [^`]*)```/.exec(readme)?.[1] ?? '';
      const raw = new Redis(server.url);
      await raw.call('ACL', 'SETUSER', ...rights.trim().split(/\s+/));
      await raw.quit();
      const { queue } = await openForTest({
        kind: 'single',
        url: `redis://gateway:PASSWORD@127.0.0.1:${server.port}`,
      });
      const heard: FinishedRefresh[] = [];
      queue.onFinished((one) => heard.push(one));
      await queue.add(makeJob(1));
      await queue.add(makeJob(1, { reason: 'recache' }));
      work(queue);
      await waitUntil('it is told of', () => heard.length === 1);
    });

    test('what others wrote into the queue is dropped', async () => {
      await empty();
      const { queue } = await openForTest(target);
      const heard: FinishedRefresh[] = [];
      queue.onFinished((one) => heard.push(one));
      await queue.add({ ...makeJob(1), hostId: 9 });
      const seen = work(queue);
      await waitUntil('it is told of', () => heard.length === 1);
      expect(heard[0]).toMatchObject({ outcome: 'dropped', detail: 'unreadable' });
      expect(seen).toEqual([]);
    });
  });
});

describeWithRedis('BullMQ, when Redis fails', () => {
  test('gone and back: adding fails at once, jobs wait, work goes on by itself', async () => {
    const server = await startRedisServer();
    const opened = await openForTest({ kind: 'single', url: server.url }, { timeoutMs: 200 });
    const seen = work(opened.queue);
    await opened.queue.add(makeJob(1));
    await waitUntil('it runs', () => seen.length === 1);
    await server.kill();
    await waitUntil('it is noticed', () => opened.warnings.length === 1);
    expect(await opened.queue.add(makeJob(2))).toMatchObject({ state: 'unavailable' });
    const again = await startRedisServer({ port: server.port });
    onTestFinished(again.stop);
    await waitUntil(
      'it takes jobs',
      async () => (await opened.queue.add(makeJob(3))).state === 'done',
    );
    await waitUntil('it works', () => seen.length === 2);
    expect(opened.warnings).toEqual(['refresh_queue_unavailable', 'refresh_queue_recovered']);
  }, 30_000);

  test('frozen: adding waits for a bounded time, then not at all', async () => {
    const server = await startRedisServer();
    onTestFinished(server.stop);
    const { queue } = await openForTest(
      { kind: 'single', url: server.url },
      { timeoutMs: 200, closeTimeoutMs: 500 },
    );
    server.pause();
    const startedAt = performance.now();
    expect(await queue.add(makeJob(1))).toMatchObject({ state: 'unavailable', reason: 'timeout' });
    expect(await queue.add(makeJob(2))).toMatchObject({ state: 'unavailable' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    server.resume();
    await waitUntil('it takes jobs', async () => (await queue.add(makeJob(3))).state === 'done');
  }, 30_000);

  test('never there: closing does not wait for it', async () => {
    const port = await findFreePort();
    const queue = createBullmqQueue({
      target: { kind: 'single', url: `redis://127.0.0.1:${port}` },
      clock: systemClock,
      onWarning: () => undefined,
      onDefect: () => undefined,
    });
    work(queue);
    queue.onFinished(() => undefined);
    expect(await queue.add(makeJob(1))).toMatchObject({ state: 'unavailable' });
    expect(await queue.count()).toMatchObject({ state: 'unavailable' });
    await queue.close();
  }, 15_000);

  test('full: what can not be stored is refused in one word', async () => {
    const server = await startRedisServer();
    onTestFinished(server.stop);
    const { queue } = await openForTest({ kind: 'single', url: server.url });
    const raw = new Redis(server.url);
    await raw.config('SET', 'maxmemory', '1');
    await raw.quit();
    expect(await queue.add(makeJob(1))).toEqual({ state: 'unavailable', reason: 'oom' });
  }, 30_000);
});

describeWithRedis('BullMQ, kinds of Redis', () => {
  test('the master that Sentinels name', async () => {
    const server = await startRedisServer();
    onTestFinished(server.stop);
    const port = await startSentinel(server.port);
    const { queue } = await openForTest({
      kind: 'sentinel',
      sentinels: [`127.0.0.1:${port}`],
      name: 'main',
      login: { user: null, password: null, tls: false },
      db: 1,
    });
    const seen = work(queue);
    await queue.add(makeJob(1));
    await waitUntil('it runs', () => seen.length === 1);
  }, 30_000);

  test('a Cluster has all keys of the queue in one slot', async () => {
    const server = await startRedisServer({
      args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    });
    onTestFinished(server.stop);
    const raw = new Redis(server.url);
    await raw.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await raw.quit();
    const { queue } = await openForTest({
      kind: 'cluster',
      nodes: [`127.0.0.1:${server.port}`],
      login: { user: null, password: null, tls: false },
    });
    const seen = work(queue);
    const heard: FinishedRefresh[] = [];
    queue.onFinished((one) => heard.push(one));
    await queue.add(makeJob(1));
    await waitUntil('it runs', () => seen.length === 1 && heard.length === 1);
  }, 30_000);
});

async function isEmpty(queue: RefreshQueue): Promise<boolean> {
  const counts = await queue.count();
  return counts.state === 'done' && Object.values(counts.value).every((count) => count === 0);
}

/** One Sentinel that watches a master by the name `main`; ends with the test. */
async function startSentinel(masterPort: number): Promise<number> {
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    `port ${port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 ${masterPort} 1\n`,
  );
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true });
  });
  return port;
}
