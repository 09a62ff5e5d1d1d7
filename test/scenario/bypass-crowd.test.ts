// A crowd on what is passed on and may be kept, over two processes that share a store: two gateways
// on one Redis, two workers on the embedded store. One request for all where that may be; at once
// for each where it may not; and whoever asks for all may die.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listTree } from '../bench/process-tree.ts';
import type { RawRequest } from '../helpers/raw-origin.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { countConnections, findSocketOwner } from '../helpers/socket-owner.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { type HeldOrigin, startHeldOrigin } from './held-origin.ts';
import { answer, ask, HUMAN, hostsText, type Question, type Reply } from './stage.ts';

const CLIENTS = 200;
const FRESH = 'Cache-Control: max-age=600';
const CACHE = 'bypass: {timeout: 20s, cache: {enabled: true, ttl: 0s}}';

interface Processes {
  readonly ports: readonly number[];
  /** All there are, of all gateways. */
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
}

type Start = (originUrl: string) => Promise<Processes>;

async function startGateways(
  originUrl: string,
  count: number,
  lines: readonly string[],
): Promise<Processes> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-crowd-'));
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(join(folder, 'hosts.yaml'), hostsText(originUrl, { host: CACHE }));
  const common = ['admin: {listen: "127.0.0.1:0"}', 'render: {engine: "off"}'];
  await writeFile(file, [...common, ...lines, ''].join('\n'));
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGatewayProcess(file)),
  );
  return {
    ports: gateways.map(({ port }) => port),
    pids: () => gateways.flatMap(({ child }) => listTree(child.pid ?? 0)),
    stop: async () => {
      await Promise.all(gateways.map(({ stop }) => stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const startWorkers: Start = (originUrl) =>
  startGateways(originUrl, 1, [
    'server: {listen: "127.0.0.1:0", workers: 2}',
    'storage: {base_path: ./data}',
  ]);

const startMachines: Start = async (originUrl) => {
  const redis = await startRedisServer();
  const processes = await startGateways(originUrl, 2, [
    'server: {listen: "127.0.0.1:0", workers: 1}',
    'storage: {base_path: ./data, bodies: redis}',
    `redis: {url: "${redis.url}"}`,
  ]);
  return {
    ...processes,
    stop: async () => {
      await processes.stop();
      await redis.stop();
    },
  };
};

/** Part of every target: a test that is tried again finds nothing of what it did before. */
let tries = 0;

/** One after another to each of the processes; dealt out by the primary where it has workers. */
function get(
  { ports }: Processes,
  target: string,
  index: number,
  question: Question = {},
): Promise<Reply> {
  const port = ports[index % ports.length] ?? 0;
  return ask(port, `${target}?try=${tries}`, { userAgent: HUMAN, timeoutMs: 40_000, ...question });
}

interface Crowd {
  readonly replies: Promise<readonly Reply[]>;
}

/** Answers when all of it is in. */
async function sendCrowd(
  processes: Processes,
  target: string,
  questions: readonly Question[] = [{}],
): Promise<Crowd> {
  let sent = 0;
  const onSent = (): void => {
    sent += 1;
  };
  const replies = Array.from({ length: CLIENTS }, (_, index) =>
    get(processes, target, index, { ...questions[index % questions.length], onSent }),
  );
  await waitUntil('all have asked', () => sent === CLIENTS);
  // The last of them is in when one that needs no origin has been answered behind it.
  const headers = ['Cache-Control: only-if-cached'];
  for (let index = 0; index < 4; index += 1) {
    await get(processes, '/nothing', index, { headers });
  }
  return { replies: Promise.all(replies) };
}

function describeCrowd(start: Start): void {
  let origin: HeldOrigin;
  let processes: Processes;
  beforeAll(async () => {
    origin = await startHeldOrigin();
    processes = await start(origin.url);
  });
  afterAll(async () => {
    await processes.stop();
    await origin.close();
  });
  beforeEach(() => {
    tries += 1;
  });

  test('one cold file: the origin is asked once', async () => {
    origin.play(() => answer(200, 'one', FRESH));
    const crowd = await sendCrowd(processes, '/cold');
    origin.release();
    const replies = await crowd.replies;
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`))).toEqual(
      new Set(['200 one']),
    );
    expect(origin.asked().length).toBe(1);
    const words = replies.map((reply) => reply.header('Cache-Status') ?? '');
    expect(words.filter((word) => /; (?:hit|collapsed)/.test(word))).toHaveLength(CLIENTS - 1);
  });

  test('what is for one alone: all at once as soon as that is known, and again', async () => {
    origin.play(() => answer(200, 'mine', 'Cache-Control: no-store'));
    const first = await sendCrowd(processes, '/mine');
    await waitUntil('one has gone ahead', () => origin.held().length === 1);
    origin.releaseHeld();
    await waitUntil('the rest are there together', () => origin.held().length === CLIENTS - 1);
    origin.releaseHeld();
    await first.replies;
    const second = await sendCrowd(processes, '/mine');
    await waitUntil('all are there together', () => origin.held().length === CLIENTS);
    origin.release();
    expect((await second.replies).every(({ body }) => body === 'mine')).toBe(true);
    expect(origin.asked().length).toBe(2 * CLIENTS);
  });

  test('a failure is told to all who wait', async () => {
    origin.play(() => 'no HTTP\r\n\r\n');
    const crowd = await sendCrowd(processes, '/failed');
    await waitUntil('one has asked', () => origin.asked().length === 1);
    origin.release();
    const replies = await crowd.replies;
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([502]));
    // Whom a busy machine lets in only now asks again.
    expect(origin.asked().length).toBeLessThan(CLIENTS / 4);
  });

  test('variants: each is asked for once', async () => {
    const languages = ['de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt', 'ru', 'sv', 'tr', 'uk'];
    origin.play(({ fields }) => {
      const language = fields.find(([name]) => name === 'accept-language')?.[1] ?? '';
      return answer(200, language, FRESH, 'Vary: Accept-Language');
    });
    const crowd = await sendCrowd(
      processes,
      '/variants',
      languages.map((one) => ({ headers: [`Accept-Language: ${one}`] })),
    );
    origin.release();
    const bodies = (await crowd.replies).map(({ body }) => body);
    expect(bodies).toEqual(bodies.map((_, index) => languages[index % languages.length]));
    expect(origin.asked().length).toBe(languages.length);
  });

  test('stale and to be validated: one question, one 304 for all', async () => {
    origin.play(({ fields }) =>
      fields.some(([name]) => name === 'if-none-match')
        ? `HTTP/1.1 304 Not Modified\r\n${FRESH}\r\nETag: "1"\r\n\r\n`
        : answer(200, 'one', FRESH, 'Age: 599', 'ETag: "1"'),
    );
    origin.release();
    await get(processes, '/stale', 0);
    const hasFor = async (directives: string): Promise<boolean> => {
      const headers = [`Cache-Control: only-if-cached${directives}`];
      return (await get(processes, '/stale', 0, { headers })).status === 200;
    };
    await waitUntil('it is stored', () => hasFor(', max-stale'));
    await waitUntil('it is stale', async () => !(await hasFor('')));
    origin.hold();
    const crowd = await sendCrowd(processes, '/stale');
    origin.release();
    expect((await crowd.replies).every(({ body }) => body === 'one')).toBe(true);
    expect(origin.asked().length).toBe(2);
  });

  test('renewed behind the clients’ backs: once', async () => {
    let version = 1;
    origin.play(() =>
      version === 1
        ? answer(200, 'v1', 'Cache-Control: max-age=600, stale-while-revalidate=600', 'Age: 599')
        : answer(200, `v${version}`, FRESH),
    );
    origin.release();
    // A store that is late keeps nothing.
    await waitUntil('it is stored', async () =>
      /; hit;/.test((await get(processes, '/renewed', 0)).head),
    );
    version = 2;
    const asked = origin.asked().length;
    origin.hold();
    await waitUntil('it is being renewed', async () => {
      await get(processes, '/renewed', 0);
      return origin.held().length > 0;
    });
    const replies = await (await sendCrowd(processes, '/renewed')).replies;
    expect(replies.every(({ body }) => body === 'v1')).toBe(true);
    origin.release();
    for (let index = 0; index < 4; index += 1) {
      const read = async (): Promise<string> => (await get(processes, '/renewed', index)).body;
      await waitUntil('it is new', async () => (await read()) === 'v2');
    }
    expect(origin.asked().length).toBe(asked + 1);
  });

  test('HEAD and a part, while the whole is on its way: right wherever they come', async () => {
    origin.play(({ method }) => answer(200, method === 'HEAD' ? '' : '0123456789', FRESH));
    const whole = await sendCrowd(processes, '/parts');
    const heads = Array.from({ length: 8 }, (_, i) =>
      get(processes, '/parts', i, { method: 'HEAD' }),
    );
    const parts = Array.from({ length: 8 }, (_, i) =>
      get(processes, '/parts', i, { headers: ['Range: bytes=2-4'] }),
    );
    // Some of them wait for the whole, some go to the origin themselves.
    origin.release();
    expect((await whole.replies).every(({ body }) => body === '0123456789')).toBe(true);
    const headed = (await Promise.all(heads)).map(({ status, body }) => `${status} ${body}`);
    expect(new Set(headed)).toEqual(new Set(['200 ']));
    for (const { status, body } of await Promise.all(parts)) {
      expect(['206 234', '200 0123456789']).toContain(`${status} ${body}`);
    }
    expect(origin.asked().filter(({ fields, method }) => isPlain(method, fields))).toHaveLength(1);
  });

  test('changed while it is on its way: nobody who comes later gets the old one', async () => {
    let version = 1;
    origin.play(({ method }) => {
      if (method === 'POST') version += 1;
      return answer(200, `v${version}`, FRESH);
    });
    const crowd = await sendCrowd(processes, '/changed');
    const posted = get(processes, '/changed', 1, { method: 'POST' });
    await waitUntil('the change is there', () => origin.held().length === 2);
    // The first GET is not answered yet.
    origin.release(1);
    expect((await posted).body).toBe('v2');
    const later = await Promise.all(
      Array.from({ length: 8 }, (_, index) => get(processes, '/changed', index)),
    );
    expect(new Set(later.map(({ body }) => body))).toEqual(new Set(['v2']));
    expect(origin.held()).toHaveLength(1);
    origin.release();
    expect((await crowd.replies).every(({ status }) => status === 200)).toBe(true);
  });

  test('the process that asks is killed half-way: exactly two', async () => {
    const text = answer(200, 'one', FRESH);
    origin.play(() => text);
    const own = await start(origin.url);
    onTestFinished(own.stop);
    const crowd = await sendCrowd(own, '/killed');
    await waitUntil('one has asked', () => origin.held().length === 1);
    const leader = findSocketOwner(origin.held()[0] ?? 0, own.pids());
    expect(leader).not.toBeNull();
    const held = (pid: number | null): number => countConnections(pid ?? 0, own.ports);
    await waitUntil(
      'each client is with one process',
      () => own.pids().reduce((sum, pid) => sum + held(pid), 0) === CLIENTS,
    );
    const heldByLeader = held(leader);
    expect(heldByLeader).toBeLessThan(CLIENTS);
    process.kill(leader ?? 0, 'SIGKILL');
    await waitUntil('somebody else asks', () => origin.asked().length === 2);
    origin.release();
    const replies = await crowd.replies;
    const served = replies.filter(({ status }) => status === 200);
    // Those whose connection was to the killed process have lost it, and nobody else.
    const lost = replies.filter(({ status }) => status !== 200);
    expect(lost.every(({ status, end }) => status === 0 && end !== 'open')).toBe(true);
    expect([served.length, lost.length]).toEqual([CLIENTS - heldByLeader, heldByLeader]);
    expect(served.every(({ body }) => body === 'one')).toBe(true);
    expect(origin.asked().length).toBe(2);
  }, 60_000);
}

function isPlain(method: string, fields: RawRequest['fields']): boolean {
  return method === 'GET' && !fields.some(([name]) => name === 'range');
}

describe('two workers on the embedded store', () => {
  describeCrowd(startWorkers);
});
describeWithRedis('two gateways on one Redis', () => {
  describeCrowd(startMachines);
});
