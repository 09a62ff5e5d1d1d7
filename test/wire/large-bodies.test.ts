// Bodies of 100 MB both ways, through a gateway process whose memory must stay flat, and peers that
// stop reading, which must stop the other side instead of filling the gateway.
import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';

const MEBIBYTE = 1024 * 1024;
const PIECES = 100;
const GROWTH_MAX = 80 * MEBIBYTE;
const PIECE = randomBytes(MEBIBYTE);

let origin: Server;
let gateway: ChildProcess;
let port = 0;
/** Bytes the origin could hand over of the answer it is writing. */
let originSent = 0;

function* pieces(count: number): Generator<Buffer> {
  for (let i = 0; i < count; i += 1) {
    originSent += PIECE.length;
    yield PIECE;
  }
}

const expectedHash = createHash('sha256');
for (let i = 0; i < PIECES; i += 1) expectedHash.update(PIECE);
const EXPECTED = expectedHash.digest('hex');

async function hashOf(message: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of message) hash.update(chunk);
  return hash.digest('hex');
}

beforeAll(async () => {
  origin = createServer((message, response) => {
    originSent = 0;
    if (message.method === 'GET') {
      pipeline(Readable.from(pieces(PIECES)), response).catch(() => response.destroy());
      return;
    }
    hashOf(message).then(
      (hash) => response.end(hash),
      () => response.destroy(),
    );
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  gateway = fork(new URL('gateway-process.ts', import.meta.url), [url], {
    execArgv: ['--import', 'tsx'],
  });
  [{ port }] = await once(gateway, 'message');
});

afterAll(async () => {
  gateway.disconnect();
  await once(gateway, 'exit');
  origin.closeAllConnections();
  origin.close();
});

async function rssBytes(): Promise<number> {
  gateway.send('rss');
  return (await once(gateway, 'message'))[0].rssBytes;
}

/** The most the gateway grew by, looked at all the time while `work` runs. */
async function growthDuring(work: Promise<unknown>): Promise<number> {
  const before = await rssBytes();
  let isDone = false;
  let most = before;
  const watch = (async () => {
    while (!isDone) most = Math.max(most, await rssBytes());
  })();
  await work.finally(() => {
    isDone = true;
  });
  await watch;
  return most - before;
}

const HEADERS = { Host: 'good.example' };

async function upload(headers: Record<string, string>): Promise<string> {
  const upstream = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/',
    headers: { ...HEADERS, ...headers },
  });
  const answered = once(upstream, 'response');
  await pipeline(Readable.from(pieces(PIECES)), upstream);
  const [answer] = await answered;
  let text = '';
  for await (const chunk of answer) text += chunk;
  return text;
}

async function download(): Promise<string> {
  const upstream = request({ port, host: '127.0.0.1', path: '/', headers: HEADERS });
  upstream.end();
  const [answer] = await once(upstream, 'response');
  return hashOf(answer);
}

describe('100 MB through the gateway', () => {
  it.each([
    ['up, chunked', () => upload({ 'Transfer-Encoding': 'chunked' })],
    ['up, with a length', () => upload({ 'Content-Length': String(PIECES * MEBIBYTE) })],
    ['down', () => download()],
  ])(
    '%s',
    async (_way, transfer) => {
      // The first transfer warms up compiled code and pools, whose growth is not the body's.
      await transfer();
      let hash = '';
      const growth = await growthDuring(
        transfer().then((value) => {
          hash = value;
        }),
      );
      expect(hash).toBe(EXPECTED);
      expect(growth).toBeLessThan(GROWTH_MAX);
    },
    60_000,
  );

  it('a client that does not read stops the origin', async () => {
    const client = connect(port, '127.0.0.1');
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: good.example\r\n\r\n');
    let last = -1;
    originSent = 0;
    // Stopped: it sent something, and nothing more between two looks.
    await waitUntil('the origin to be stopped', async () => {
      await rssBytes();
      await new Promise((resolve) => setTimeout(resolve, 200));
      const isStopped = originSent > 0 && originSent === last;
      last = originSent;
      return isStopped;
    });
    expect(originSent).toBeLessThan(50 * MEBIBYTE);
    client.destroy();
  });
});
