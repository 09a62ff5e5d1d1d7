// The gentle end of a server, connection by connection, on the real door.
import { once } from 'node:events';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { connect as connectHttp2, type Http2SecureServer } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '../../src/core/limits.ts';
import { createHttpServer } from '../../src/server/door/create-http-server.ts';
import { createTlsServer } from '../../src/server/door/create-tls-server.ts';
import { type Drain, watchForDrain } from '../../src/server/door/drain.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { SERVER_LIMITS } from '../helpers/server-limits.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n';
const UPGRADE = GET.replace(/\r\n$/, 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n');

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  readonly isClosed: () => boolean;
}

describe('HTTP/1.1', () => {
  test('the next answer on an open connection is its last one', async () => {
    const { drain, open } = await startServer();
    const client = await open();
    client.socket.write(GET);
    await waitUntil('answered', () => client.text().includes('ok'));
    expect(client.text()).not.toMatch(/connection: close/i);
    drain.begin();
    expect(client.isClosed()).toBe(false);
    client.socket.write(GET);
    await waitUntil('closed', client.isClosed);
    expect(client.text().match(/200 OK/g)).toHaveLength(2);
    expect(client.text()).toMatch(/connection: close/i);
    await drain.ended();
  });

  test('so is one that is being made when it begins', async () => {
    const held: ServerResponse[] = [];
    const { drain, open } = await startServer((_request, response) => void held.push(response));
    const client = await open();
    client.socket.write(GET);
    await waitUntil('it is under way', () => held.length === 1);
    drain.begin();
    drain.endIdle();
    held[0]?.end('ok');
    await waitUntil('closed', client.isClosed);
    expect(client.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*connection: close\r\n/i);
  });

  test('silent connections end with the grace period, those with half a request do not', async () => {
    const { drain, open } = await startServer();
    const silent = await open();
    const [half, body] = [await open(), await open()];
    half.socket.write(GET.slice(0, 20));
    body.socket.write(GET.replace('GET', 'POST').replace(/\r\n$/, 'Content-Length: 4\r\n\r\nab'));
    await roundTrip(open);
    drain.begin();
    drain.endIdle();
    await waitUntil('the silent one is closed', silent.isClosed);
    half.socket.write(GET.slice(20));
    body.socket.write('cd');
    await waitUntil('both are answered', () => half.isClosed() && body.isClosed());
    expect(half.text()).toContain('ok');
    expect(body.text()).toContain('ok');
    await drain.ended();
  });

  test('what was upgraded is left alone, until all is cut', async () => {
    const upgraded: Socket[] = [];
    const { drain, open } = await startServer(undefined, (socket) => upgraded.push(socket));
    const client = await open();
    client.socket.write(UPGRADE);
    await waitUntil('it is upgraded', () => upgraded.length === 1);
    drain.begin();
    drain.endIdle();
    upgraded[0]?.write('still here');
    await waitUntil('it goes on', () => client.text() === 'still here');
    let hasEnded = false;
    const ended = drain.ended().then(() => {
      hasEnded = true;
    });
    expect(hasEnded).toBe(false);
    drain.cut();
    await ended;
    await waitUntil('closed', client.isClosed);
  });
});

describe('HTTP/2', () => {
  test('GOAWAY comes with the next answer; silent sessions end with the grace period', async () => {
    const certificate = makeCertificate('127.0.0.1');
    const server = createTlsServer(
      { ...DOOR, onUpgrade: (_request, socket) => socket.destroy() },
      certificate,
      (_request, response) => void response.end('ok'),
    );
    const drain = watchForDrain(server, true);
    const port = await listen(server);
    const [busy, silent] = ['busy', 'silent'].map(() =>
      connectHttp2(`https://127.0.0.1:${port}`, { ca: certificate.cert }),
    );
    if (busy === undefined || silent === undefined) throw new Error('two sessions');
    const ask = async (session: typeof busy): Promise<number> => {
      const stream = session.request({ ':path': '/', ':authority': 'a.example' });
      stream.resume();
      const [headers] = await once(stream, 'response');
      await once(stream, 'close');
      return Number((headers as Record<string, unknown>)[':status']);
    };
    expect([await ask(busy), await ask(silent)]).toEqual([200, 200]);
    drain.begin();
    expect([busy.closed, silent.closed]).toEqual([false, false]);
    const goaway = once(busy, 'goaway');
    expect(await ask(busy)).toBe(200);
    expect((await goaway)[0]).toBe(0);
    drain.endIdle();
    await Promise.all([drain.ended(), once(silent, 'close')]);
  });
});

const DOOR = {
  limits: SERVER_LIMITS,
  urlBytesMax: LIMITS.urlBytesMax,
  onRefused: (): void => undefined,
};

interface DrainStage {
  readonly drain: Drain;
  readonly open: () => Promise<Client>;
}

async function startServer(
  handler: RequestListener = answerOk,
  onUpgrade: (socket: Socket) => void = (socket) => socket.destroy(),
): Promise<DrainStage> {
  const door = {
    ...DOOR,
    onUpgrade: (_request: unknown, socket: unknown) => onUpgrade(socket as Socket),
  };
  const server = createHttpServer(door, handler);
  const drain = watchForDrain(server, false);
  const port = await listen(server);
  return { drain, open: async () => await openClient(port) };
}

/** After the upload, as origins do. */
function answerOk(request: Parameters<RequestListener>[0], response: ServerResponse): void {
  request.resume();
  request.once('end', () => response.end('ok'));
}

async function listen(server: Server | Http2SecureServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function openClient(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('close', () => {
    isClosed = true;
  });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return { socket, text: () => text, isClosed: () => isClosed };
}

/** When a later connection is answered, the server has seen what was sent before. */
async function roundTrip(open: () => Promise<Client>): Promise<void> {
  const client = await open();
  client.socket.write(GET);
  await waitUntil('a round trip', () => client.text().includes('ok'));
  client.socket.destroy();
}
