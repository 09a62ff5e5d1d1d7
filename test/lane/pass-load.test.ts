// The lane passes on under load: more clients than connections to an origin, origins that restart,
// several of one host; and nothing is left over of all that.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startLoad } from '../helpers/load.ts';
import { type RawOrigin, startRawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, HUMAN, setStage } from '../scenario/stage.ts';
import { countParsed, openClient } from './lane-client.ts';
import { humanGet, readCounters } from './pass-client.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

const warnings: string[] = [];
const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
beforeAll(() => void process.on('warning', note));
afterAll(() => {
  process.off('warning', note);
  expect(warnings.filter((text) => text.startsWith('MaxListeners'))).toEqual([]);
});

test('600 clients at once: all get their own answer', async () => {
  let waiting: (() => void)[] = [];
  const stage = await setStage({
    origin: ({ target }, socket) => {
      if (!target.startsWith('/all')) return answer(200, target);
      waiting.push(() => socket.write(answer(200, target)));
      return null;
    },
  });
  const parsed = countParsed(stage.gateway.port);
  const clients = await Promise.all(
    Array.from({ length: 600 }, () => openClient(stage.gateway.port)),
  );
  const texts = Promise.all(clients.map((client, i) => client.ask(humanGet(`/all-${i}`))));
  await waitUntil('all have asked', () => waiting.length === 600);
  // Those for whom the lane has no connection go the long way.
  expect(parsed()).toBe(600 - 512);
  for (const release of waiting) release();
  waiting = [];
  (await texts).forEach((text, i) => expect(text.endsWith(`\r\n\r\n/all-${i}`)).toBe(true));
  await waitUntil('some are kept', () => stage.origin.openConnections() <= 128);
  const again = await Promise.all(clients.map((client, i) => client.ask(humanGet(`/again-${i}`))));
  again.forEach((text, i) => expect(text.endsWith(`\r\n\r\n/again-${i}`)).toBe(true));
}, 60_000);

describe('an origin that restarts', () => {
  test('under load: nobody fails while it listens', async () => {
    const origin = await startRestartable();
    const stage = await setStage();
    await stage.gateway.write({ hosts: hostsOf([origin.url]) });
    await stage.gateway.reload();
    const statuses = new Map<number, number>();
    const load = startLoad({
      ports: [stage.gateway.port],
      connections: 16,
      userAgent: HUMAN,
      next: () => '/page',
      onShot: ({ status }) => void statuses.set(status, (statuses.get(status) ?? 0) + 1),
    });
    for (let round = 1; round <= 10; round += 1) {
      await waitUntil('some requests', () => load.report().shots > round * 150);
      origin.dropIdle();
    }
    const report = await load.stop();
    expect(report.failures).toEqual([]);
    expect([...statuses.keys()]).toEqual([200]);
  }, 60_000);

  test('and is gone for a moment: served again without a restart of ours', async () => {
    const origin = await startRawOrigin({ answer: ({ target }) => answer(200, target) });
    const stage = await setStage();
    await stage.gateway.write({ hosts: hostsOf([origin.url]) });
    await stage.gateway.reload();
    const client = await openClient(stage.gateway.port);
    expect(await client.ask(humanGet('/a'))).toMatch(/\/a$/);
    await origin.close();
    expect(await client.ask(humanGet('/b'))).toMatch(/^HTTP\/1\.1 502 /);
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', () => socket.write(answer(200, 'back')));
    });
    server.listen(origin.port, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    expect(await client.ask(humanGet('/c'))).toMatch(/back$/);
  });
});

/** An origin that closes idle connections when told to, as a graceful restart does. */
async function startRestartable(): Promise<{
  readonly url: string;
  readonly dropIdle: () => void;
}> {
  const sockets = new Set<Socket>();
  const busy = new Set<Socket>();
  const origin = await startRawOrigin({
    answer: (_request, socket) => {
      if (!sockets.has(socket)) socket.once('close', () => sockets.delete(socket));
      sockets.add(socket);
      busy.add(socket);
      setImmediate(() => {
        busy.delete(socket);
        socket.write(answer(200, 'fine'));
      });
      return null;
    },
  });
  onTestFinished(origin.close);
  return {
    url: origin.url,
    dropIdle: () => {
      for (const socket of sockets) if (!busy.has(socket)) socket.end();
    },
  };
}

function hostsOf(urls: readonly string[]): string {
  return `hosts: [{id: 1, domain: site.test, origin: [${urls.map((url) => `"${url}"`).join()}]}]`;
}

describe('several origins of one host', () => {
  async function startOrigins(count: number, script: string): Promise<RawOrigin[]> {
    const origins = await Promise.all(
      Array.from({ length: count }, () =>
        startRawOrigin({ answer: () => script.replace('{}', 'x') }),
      ),
    );
    onTestFinished(async () => void (await Promise.all(origins.map(({ close }) => close()))));
    return origins;
  }

  const asked = (origins: readonly RawOrigin[]): number[] =>
    origins.map(({ requests }) => requests.length);

  test.each([
    ['that the lane can use', answer(200, 'ok'), 1],
    ['that it leaves alone', 'HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n', 1.2],
  ])('%s share alike', async (_what, script, ratio) => {
    const origins = await startOrigins(3, script);
    const stage = await setStage();
    await stage.gateway.write({ hosts: hostsOf(origins.map(({ url }) => url)) });
    await stage.gateway.reload();
    const client = await openClient(stage.gateway.port);
    for (let i = 0; i < 60; i += 1) await client.ask(humanGet('/'));
    const counts = asked(origins);
    expect(Math.max(...counts)).toBeLessThanOrEqual(Math.min(...counts) * ratio + 1);
  });

  test('one that is gone is left out, and its share is done by the others', async () => {
    const [gone, ...origins] = await startOrigins(3, answer(200, 'ok'));
    await gone?.close();
    const stage = await setStage();
    await stage.gateway.write({
      hosts: hostsOf([gone?.url ?? '', ...origins.map(({ url }) => url)]),
    });
    await stage.gateway.reload();
    const client = await openClient(stage.gateway.port);
    for (let i = 0; i < 60; i += 1) {
      expect(await client.ask(humanGet('/'))).toMatch(/^HTTP\/1\.1 200 /);
    }
    expect(Math.min(...asked(origins))).toBeGreaterThan(10);
  });

  test('the busier one is spared: a turn lasts until its answer', async () => {
    const held: Socket[] = [];
    const slow = await startRawOrigin({
      answer: (_request, socket) => {
        held.push(socket);
        return null;
      },
    });
    const [quick] = await startOrigins(1, answer(200, 'ok'));
    onTestFinished(slow.close);
    const stage = await setStage();
    await stage.gateway.write({ hosts: hostsOf([slow.url, quick?.url ?? '']) });
    await stage.gateway.reload();
    const clients = await Promise.all([1, 2].map(() => openClient(stage.gateway.port)));
    for (const client of clients) client.send(humanGet('/first'));
    await waitUntil(
      'one waits, and the other has asked',
      () => held.length === 1 && quick?.requests.length === 1,
    );
    const other = await openClient(stage.gateway.port);
    for (let i = 0; i < 10; i += 1) await other.ask(humanGet('/next'));
    expect([slow.requests.length, quick?.requests.length]).toEqual([1, 11]);
    held[0]?.write(answer(200, 'late'));
    await waitUntil('both are answered', () => clients.every((one) => one.text() !== ''));
    // Its turn is over: it has its share again.
    for (let i = 0; i < 2; i += 1) other.send(humanGet(`/${i}`));
    await waitUntil('it is asked again', () => held.length === 2);
  });
});

test('20,000 requests leave nothing behind', async () => {
  const stage = await setStage({
    gateway: 'log: {level: error}\n',
    origin: ({ target }) =>
      target.endsWith('0')
        ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'
        : answer(200, 'x'.repeat(2_000)),
  });
  const clients = await Promise.all(
    Array.from({ length: 8 }, () => openQuickClient(stage.gateway.port)),
  );
  const parsed = countParsed(stage.gateway.port);
  const run = (count: number): Promise<unknown> =>
    Promise.all(clients.map((client) => client.run(count / clients.length)));
  // The origin's own record is not ours.
  const forget = (): void => {
    (stage.origin.requests as unknown[]).length = 0;
    (stage.origin.heads as unknown[]).length = 0;
  };
  const weigh = (): number => {
    forget();
    if (typeof collectGarbage === 'function') collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  await run(4_000);
  const before = weigh();
  await run(20_000);
  const grown = weigh() - before;
  expect(parsed()).toBe(0);
  expect(grown).toBeLessThan(4_000_000);
  const counters = await readCounters(stage);
  expect(counters.join('\n')).toMatch(/requests_total\{[^}]*source="bypass"[^}]*\} 24000/);
}, 60_000);

interface QuickClient {
  /** Asks so many times, one after another. */
  readonly run: (count: number) => Promise<void>;
}

/** Keeps nothing of what it is answered. */
async function openQuickClient(port: number): Promise<QuickClient> {
  const { socket } = await openClient(port);
  socket.removeAllListeners('data');
  return {
    run: (count) =>
      new Promise((resolve) => {
        let asked = 0;
        let tail = '';
        const askNext = (): void => {
          asked += 1;
          tail = '';
          socket.write(humanGet(`/page-${asked % 50}`));
        };
        const read = (chunk: Buffer): void => {
          tail = (tail + chunk.toString('latin1')).slice(-6);
          if (!tail.endsWith('xxxx') && !tail.endsWith('0\r\n\r\n')) return;
          if (asked < count) {
            askNext();
            return;
          }
          socket.removeListener('data', read);
          resolve();
        };
        socket.on('data', read);
        askNext();
      }),
  };
}
