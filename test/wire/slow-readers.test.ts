// Clients that ask and do not read: cut after the idle limit, whatever the protocol and wherever the
// answer comes from. Those that read slowly or have nothing to read are left alone.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../src/server/door/create-http-server.ts';
import { writeAnswer } from '../../src/server/gateway/write-answer.ts';
import { type BypassGateway, startBypassGateway } from '../helpers/bypass-gateway.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { SERVER_LIMITS } from '../helpers/server-limits.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const IDLE_MS = 300;
const PAGE = Buffer.alloc(15 * 1024 * 1024, 'page ');
const CERTIFICATE = makeCertificate('good.example');
const GET = 'GET /g HTTP/1.1\r\nHost: good.example\r\n\r\n';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface Origin {
  readonly url: string;
  readonly open: () => number;
}

/** An origin whose running answers can be counted. */
async function startOrigin(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Origin> {
  const running = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    running.add(response);
    response.once('close', () => running.delete(response));
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, open: () => running.size };
}

async function startDoor(origin: Origin, isTls = false, idleMs = IDLE_MS): Promise<BypassGateway> {
  const gateway = await startBypassGateway({
    originUrl: origin.url,
    limits: { bodyIdleTimeoutMs: idleMs },
    ...(isTls ? { certificate: CERTIFICATE } : {}),
  });
  cleanUps.push(gateway.close);
  return gateway;
}

function ask(port: number, bytes = GET): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  socket.pause();
  socket.write(bytes);
  cleanUps.push(() => void socket.destroy());
  return socket;
}

function startSession(port: number, initialWindowSize = 65_535): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ca: CERTIFICATE.cert,
    servername: 'good.example',
    settings: { initialWindowSize },
  });
  session.on('error', () => undefined);
  cleanUps.push(() => session.destroy());
  return session;
}

function request(session: ClientHttp2Session, path = '/g'): ClientHttp2Stream {
  const stream = session.request({ ':authority': 'good.example', ':path': path });
  stream.on('error', () => undefined);
  return stream;
}

describe('a client that does not read', () => {
  it('is cut off its bypassed answer', async () => {
    const origin = await startOrigin((_request, response) => response.end(PAGE));
    const { port } = await startDoor(origin);
    ask(port);
    await waitUntil('the answer to begin', () => origin.open() === 1);
    await waitUntil('the answer to be cut', () => origin.open() === 0);
  });

  it('is cut off a page, which is not kept for it', async () => {
    const responses: ServerResponse[] = [];
    const limits = { ...SERVER_LIMITS, bodyIdleTimeoutMs: IDLE_MS };
    const options = { limits, urlBytesMax: 100, onRefused: () => {}, onUpgrade: () => {} };
    const server = createHttpServer(options, (request, response) => {
      responses.push(response);
      writeAnswer(request, response, { status: 200, headers: [], body: PAGE });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUps.push(() => void server.close());
    for (let count = 0; count < 5; count += 1) ask((server.address() as AddressInfo).port);
    await waitUntil('the answers', () => responses.length === 5);
    expect(Math.max(...responses.map((response) => response.writableLength))).toBeLessThan(200_000);
    await waitUntil('all to be cut', () => responses.every(({ destroyed }) => destroyed));
    expect(responses.some(({ writableFinished }) => writableFinished)).toBe(false);
  });

  it('loses its HTTP/2 connection when nothing on it moves', async () => {
    const origin = await startOrigin((_request, response) => response.end(PAGE));
    const { port } = await startDoor(origin, true);
    const session = startSession(port, 0);
    for (let count = 0; count < 20; count += 1) request(session).pause();
    await once(session, 'close');
    await waitUntil('the answers to be cut', () => origin.open() === 0);
  });

  it('loses it also when it stops reading the connection itself', async () => {
    const origin = await startOrigin((_request, response) => response.end(PAGE));
    const { port } = await startDoor(origin, true);
    const session = startSession(port, 2 ** 30);
    session.on('connect', () => session.setLocalWindowSize(2 ** 30));
    let hasStopped = false;
    request(session).once('data', () => {
      hasStopped = true;
      const tls = session.socket as unknown as { _handle: { readStop: () => void } };
      tls._handle.readStop();
    });
    await waitUntil('the reader to stop', () => hasStopped);
    await waitUntil('the answer to be cut', () => origin.open() === 0);
  });

  it('loses only the HTTP/2 stream while another one moves', async () => {
    const origin = await startOrigin(({ url }, response) => {
      if (url === '/stalled') response.end(PAGE);
      else response.write('x');
      if (url !== '/moving') return;
      const timer = setInterval(() => response.write(PAGE.subarray(0, 50_000)), 30);
      response.once('close', () => clearInterval(timer));
    });
    const { port } = await startDoor(origin, true);
    const session = startSession(port);
    const moving = request(session, '/moving').resume();
    await once(moving, 'response');
    const stalled = request(session, '/stalled');
    stalled.pause();
    await once(stalled, 'close');
    expect([stalled.rstCode, session.destroyed, moving.destroyed]).toEqual([8, false, false]);
  });
});

describe('a client is left alone', () => {
  it('that reads slowly, and gets every byte', async () => {
    const origin = await startOrigin((_request, response) => response.end(PAGE));
    const { port } = await startDoor(origin, false, 1_000);
    const socket = ask(port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const startedAt = performance.now();
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 12);
    });
    socket.resume();
    await once(socket, 'close');
    expect(bytes).toBeGreaterThan(PAGE.length);
    expect(performance.now() - startedAt).toBeGreaterThan(2_000);
  });

  it.each([false, true])('that waits for a silent event stream (HTTP/2: %s)', async (isTls) => {
    let send: () => void = () => undefined;
    const origin = await startOrigin((_request, response) => {
      response.write('data: 1\n\n');
      send = () => void response.end('data: 2\n\n');
    });
    const { port } = await startDoor(origin, isTls);
    const stream = isTls ? request(startSession(port)) : ask(port);
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
    });
    stream.resume();
    await waitUntil('the first event', () => text.includes('data: 1'));
    setTimeout(() => send(), 4 * IDLE_MS);
    await waitUntil('the second event', () => text.includes('data: 2'));
  });
});
