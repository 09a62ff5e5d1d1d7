// What the lane remembers is bounded: plans are few and small, and a page that left the memory is
// kept by none of them.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { startTestGateway } from '../helpers/gateway.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { HUMAN, hostsText, page, setStage } from '../scenario/stage.ts';
import { countParsed, openClient, plainGet, slowly, warm } from './lane-client.ts';

const MIB = 1_024 * 1_024;
/** Clients of a flood at once. */
const FLOODING = 20;
const UNVERIFIED = 'bots: {verify: "off"}\n';

setFlagsFromString('--expose-gc');
const collectGarbage: unknown = runInNewContext('gc');

function heldBytes(): { readonly bodies: number; readonly heap: number } {
  if (typeof collectGarbage === 'function') collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return { bodies: arrayBuffers, heap: heapUsed };
}

test('bodies that memory let go are kept by no plan', { timeout: 120_000 }, async () => {
  const stage = await setStage({
    host: UNVERIFIED,
    gateway: 'memory: {max_bytes: 2MiB}\n',
    // No coding makes it smaller than an eighth of the memory; each page is another.
    origin: ({ target }) => page(`${target} ${'x'.repeat(60_000)}`),
  });
  const parsed = countParsed(stage.gateway.port);
  let fast = 0;
  const visit = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i += 1) {
      // A connection of its own, so that what the client has received can go.
      const client = await openClient(stage.gateway.port);
      const request = plainGet(`/page-${i}`);
      await warm(client, request);
      const before = parsed();
      await client.ask(request);
      fast += parsed() === before ? 1 : 0;
      client.socket.destroy();
    }
  };
  await visit(0, 30);
  const before = heldBytes();
  await visit(30, 110);
  expect(fast).toBe(110);
  // 80 pages are 4.8 MB. What closed connections held goes a little later than they do.
  await waitUntil('less is held', () => heldBytes().bodies - before.bodies < 3 * MIB);
});

test('of long requests nothing is kept', { timeout: 120_000 }, async () => {
  const origin = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.write(page('a page')));
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  onTestFinished(() => void origin.close());
  const { port } = origin.address() as AddressInfo;
  const gateway = await startTestGateway({
    gateway: 'log: {level: error}\nrender: {engine: origin}\n',
    hosts: hostsText(`http://127.0.0.1:${port}`, { host: UNVERIFIED }),
  });
  onTestFinished(gateway.close);
  const flood = async (count: number): Promise<void> => {
    const floods = Array.from({ length: FLOODING }, async (_, place) => {
      const socket = connect(gateway.port, '127.0.0.1');
      for (let i = 0; i < count / FLOODING; i += 1) {
        const request = plainGet(`/${count}/${place}/${i}?${'x'.repeat(1_800)}`);
        socket.write(request.replace(/User-Agent: .*/, `User-Agent: ${HUMAN}`));
        await once(socket, 'data');
      }
      socket.destroy();
    });
    await Promise.all(floods);
  };
  await flood(400);
  const before = heldBytes();
  await flood(3_000);
  // Kept, it would be four times as much.
  expect(heldBytes().heap - before.heap).toBeLessThan(6 * MIB);
});

test('what the lane serves counts as used: it stays when the disk gets full', {
  timeout: 60_000,
}, async () => {
  const stage = await setStage({
    origin: () => page(`<p>${randomBytes(9_000).toString('base64')}</p>`),
    hasTestClock: true,
    host: UNVERIFIED,
    gateway: 'storage:\n  max_bytes: 256KiB\n',
    render: 'cache: {ttl: 7d}',
  });
  const client = await openClient(stage.gateway.port);
  const hot = plainGet('/hot');
  await warm(client, hot);
  const parsed = countParsed(stage.gateway.port);
  for (let i = 0; i < 24; i += 1) {
    stage.clock.advance(300_000);
    await client.ask(slowly(plainGet(`/page/${i}`)));
    expect(await client.ask(hot)).toContain('X-Render-Cache: hit');
  }
  expect(parsed()).toBe(24);
  await waitUntil('others have gone', () => stage.gateway.log.some(({ msg }) => msg === 'evicted'));
  expect(await client.ask(slowly(hot))).toContain('X-Render-Cache: hit');
  expect(await client.ask(slowly(plainGet('/page/0')))).toContain('X-Render-Cache: new');
});
