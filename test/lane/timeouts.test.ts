// Time and memory of connections that the lane answers on: silence ends them, half a head is
// refused in time, and neither a long render nor a slow reader is cut by a timer that is not theirs.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasAnswers, splitAnswers, statusesOf } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Stage, setStage } from '../scenario/stage.ts';
import { type Client, countParsed, openClient, plainGet, slowly, warm } from './lane-client.ts';

const PAGE = plainGet('/page');
const LARGE = plainGet('/large');
/** As much as goes out in one write, with its head. */
const LARGE_BYTES = 60_000;

interface Limits {
  readonly idleMs: number;
  readonly headersMs: number;
  /** How long an answer may not be read. */
  readonly stalledMs?: number;
}

interface TimedStage extends Stage {
  readonly held: (() => void)[];
  /** A client with both pages in memory, and its socket at the server. */
  readonly open: () => Promise<{ readonly client: Client; readonly served: Socket }>;
}

async function setTimedStage({
  idleMs,
  headersMs,
  stalledMs = 30_000,
}: Limits): Promise<TimedStage> {
  const held: (() => void)[] = [];
  const limits = [
    `idle_timeout: ${idleMs}ms`,
    `headers_timeout: ${headersMs}ms`,
    `body_timeout: ${stalledMs}ms`,
  ];
  const stage = await setStage({
    gateway: `server:\n  limits: {${limits.join(', ')}}\n`,
    host: 'bots: {verify: "off"}\n',
    origin: ({ target }, socket) => {
      if (target === '/large') return page('x'.repeat(LARGE_BYTES));
      if (!target.startsWith('/held')) return page('a page');
      held.push(() => socket.write(page('held')));
      return null;
    },
  });
  const { port } = stage.gateway;
  const sockets: Socket[] = [];
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === port) sockets.push(socket);
  };
  subscribe('net.server.socket', note);
  onTestFinished(() => void unsubscribe('net.server.socket', note));
  const first = await openClient(port);
  for (const request of [PAGE, LARGE]) await warm(first, request);
  return {
    ...stage,
    held,
    open: async () => {
      const before = sockets.length;
      const client = await openClient(port);
      await waitUntil('it is accepted', () => sockets.length > before);
      const served = sockets.at(-1);
      if (served === undefined) throw new Error('no socket');
      return { client, served };
    },
  };
}

describe('silence', () => {
  test.each([
    ['behind an answer of the lane', [PAGE]],
    ['behind several', [PAGE, PAGE, PAGE]],
    ['behind one of the pipeline and one of the lane', [slowly(PAGE), PAGE]],
    ['behind one of the lane and one of the pipeline', [PAGE, slowly(PAGE)]],
    ['behind a large one', [LARGE]],
  ])('%s ends the connection', async (_what, requests) => {
    const { open } = await setTimedStage({ idleMs: 300, headersMs: 60_000 });
    const { client } = await open();
    for (const request of requests) await client.ask(request);
    await waitUntil('it is closed', client.isClosed);
    expect(splitAnswers(client.text())).toHaveLength(requests.length);
  });

  test('behind blank lines, when the parser’s own time is over, ends it too', async () => {
    const { open } = await setTimedStage({ idleMs: 600, headersMs: 200 });
    const { client } = await open();
    // Node looks for late heads at this interval: afterwards it forgets this connection.
    for (let i = 0; i < 10; i += 1) {
      await client.ask(PAGE);
      await wait(100);
    }
    client.send('\r\n');
    await waitUntil('it is closed', client.isClosed);
  });

  test('does not end one that is used, nor does the time for heads', async () => {
    const { open, gateway } = await setTimedStage({ idleMs: 1_000, headersMs: 200 });
    const { client } = await open();
    const parsed = countParsed(gateway.port);
    for (let i = 0; i < 30; i += 1) {
      await client.ask(PAGE);
      await wait(100);
    }
    expect([client.isClosed(), parsed()]).toEqual([false, 0]);
    expect(splitAnswers(client.text()).every(({ status }) => status === 200)).toBe(true);
  });

  test('is not what a long render is', async () => {
    const { open, held } = await setTimedStage({ idleMs: 200, headersMs: 60_000 });
    const { client } = await open();
    for (const target of ['/held/1', '/held/2']) {
      await client.ask(PAGE);
      client.send(plainGet(target));
      await waitUntil('it is under way', () => held.length === 1);
      await wait(1_000);
      held.shift()?.();
    }
    const all = await client.answers(4);
    expect(all.map((text) => text.split('\r\n\r\n')[1])).toEqual([
      'a page',
      'held',
      'a page',
      'held',
    ]);
  });
});

test('half a head behind answers of the lane is refused in time', async () => {
  const { open } = await setTimedStage({ idleMs: 60_000, headersMs: 300 });
  for (const pauseMs of [0, 1_000]) {
    const { client } = await open();
    await client.ask(PAGE);
    await wait(pauseMs);
    await client.ask(PAGE);
    client.send(PAGE.slice(0, -10));
    await waitUntil('it is closed', client.isClosed);
    expect(splitAnswers(client.text()).map(({ status }) => status)).toEqual([200, 200, 408]);
  }
});

describe('a client that does not read', () => {
  /** Asks without reading until an answer waits at the server. */
  async function stall({ client, served }: Awaited<ReturnType<TimedStage['open']>>) {
    client.socket.pause();
    let asked = 0;
    let waiting = 0;
    await waitUntil('an answer waits', () => {
      waiting = served.writableLength;
      if (waiting > 0) return true;
      client.send(LARGE);
      asked += 1;
      return false;
    });
    return { asked, waiting };
  }

  test('waits for its answer as long as any other does, in bounded memory', async () => {
    const { open, gateway } = await setTimedStage({ idleMs: 300, headersMs: 300 });
    const parsed = countParsed(gateway.port);
    const pair = await open();
    const { asked, waiting } = await stall(pair);
    expect(parsed()).toBe(0);
    expect(waiting).toBeLessThan(70_000);
    await wait(2_000);
    expect(pair.served.destroyed).toBe(false);
    const { client, served } = pair;
    client.send(LARGE);
    await wait(100);
    expect(served.writableLength).toBeLessThan(200_000);
    client.socket.resume();
    await waitUntil('all of it', () => hasAnswers(asked + 1)(client.text()));
    const all = splitAnswers(client.text());
    expect(new Set(all.map(({ status, body }) => `${status} ${body.length}`))).toEqual(
      new Set([`200 ${LARGE_BYTES}`]),
    );
    await waitUntil('silence ends it', client.isClosed);
  });

  test('is cut after the time for that, and logged', async () => {
    const stage = await setTimedStage({ idleMs: 60_000, headersMs: 300, stalledMs: 300 });
    const pair = await stage.open();
    await stall(pair);
    await waitUntil('it is cut', () => pair.served.destroyed);
    const aborted = () => stage.gateway.log.filter((line) => line['aborted'] === true);
    await waitUntil('it is logged', () => aborted().length > 0);
    expect(aborted()).toHaveLength(1);
  });

  test('and leaves is logged as one that did not get it', async () => {
    const stage = await setTimedStage({ idleMs: 60_000, headersMs: 60_000 });
    const pair = await stage.open();
    await stall(pair);
    pair.client.socket.resetAndDestroy();
    const aborted = () => stage.gateway.log.filter((line) => line['aborted'] === true);
    await waitUntil('it is logged', () => aborted().length > 0);
    expect(aborted()).toHaveLength(1);
  });
});

test('a client that closes its side behind a request gets the answer', async () => {
  const { open } = await setTimedStage({ idleMs: 60_000, headersMs: 60_000 });
  const { client } = await open();
  client.socket.end(PAGE);
  await waitUntil('it is closed', client.isClosed);
  expect(statusesOf(client.text())).toEqual([200]);
});
