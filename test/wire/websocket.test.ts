// Upgrades through the gateway: a real WebSocket client and server, and raw bytes where a library
// would be too polite.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type BypassGateway, startBypassGateway } from '../helpers/bypass-gateway.ts';
import { hasAnswers, sendRaw } from '../helpers/raw-client.ts';
import { OK_ANSWER, startRawOrigin, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const HANDSHAKE = [
  'GET /socket?x=1 HTTP/1.1',
  'Host: good.example',
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'User-Agent: Googlebot/2.1',
  '\r\n',
].join('\r\n');
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function gatewayFor(originUrl: string, timeoutMs = 5_000): Promise<BypassGateway> {
  const gateway = await startBypassGateway({ originUrl, target: { timeoutMs } });
  cleanUps.push(gateway.close);
  return gateway;
}

async function startEchoServer(): Promise<{ url: string; server: WebSocketServer }> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, path: '/socket' });
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  cleanUps.push(() => {
    for (const client of server.clients) client.terminate();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, server };
}

function openSocket(gateway: BypassGateway, path = '/socket'): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${gateway.port}${path}`, {
    headers: { Host: 'good.example' },
  });
}

describe('a WebSocket', () => {
  it('passes text, large binary messages and the close code', async () => {
    const { url, server } = await startEchoServer();
    const gateway = await gatewayFor(url);
    const socket = openSocket(gateway);
    await once(socket, 'open');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    const large = randomBytes(8 * 1024 * 1024);
    socket.send(large);
    expect(large.equals((await once(socket, 'message'))[0])).toBe(true);
    const [peer] = server.clients;
    const closed = once(socket, 'close');
    peer?.close(4_001, 'enough');
    expect((await closed)[0]).toBe(4_001);
    expect(gateway.outcomes[0]).toMatchObject({ status: 101, error: null });
  });

  it('gets the status with which the origin declines', async () => {
    const { url } = await startEchoServer();
    const gateway = await gatewayFor(url);
    const [response] = await once(
      openSocket(gateway, '/elsewhere').on('error', () => undefined),
      'unexpected-response',
    ).then(([, answer]) => [answer]);
    expect(response.statusCode).toBe(400);
  });
});

describe('the handshake', () => {
  it('reaches the origin with path, key and forwarding fields, whoever asks', async () => {
    const origin = await startRawOrigin({ answer: () => SWITCHING });
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url);
    const reply = await sendRaw(gateway.port, HANDSHAKE, {
      until: (text) => text.includes('\r\n\r\n'),
    });
    expect(reply.text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
    expect(reply.text).toContain('\r\nSec-WebSocket-Accept: x\r\n');
    const [request] = origin.requests;
    expect(request?.target).toBe('/socket?x=1');
    expect(valuesOf(request, 'upgrade')).toEqual(['websocket']);
    expect(valuesOf(request, 'connection')).toEqual(['Upgrade']);
    expect(valuesOf(request, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(valuesOf(request, 'user-agent')).toEqual(['Googlebot/2.1']);
  });

  it('holds back what the client sends before the 101 (RFC 9931)', async () => {
    let seen = '';
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        socket.removeAllListeners('data');
        socket.on('data', (chunk) => {
          seen += chunk;
        });
        setImmediate(() => {
          expect(seen).toBe('');
          socket.write(`${SWITCHING}from the origin`);
        });
        return null;
      },
    });
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url);
    const reply = await sendRaw(gateway.port, `${HANDSHAKE}too early`, {
      until: (text) => text.endsWith('from the origin'),
    });
    expect(reply.end).toBe('open');
    await waitUntil('the held bytes', () => seen === 'too early');
  });

  it('is not half a tunnel when the origin answers 200', async () => {
    const origin = await startRawOrigin({ answer: () => OK_ANSWER });
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url);
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: good.example\r\n\r\n';
    const reply = await sendRaw(gateway.port, HANDSHAKE + smuggled);
    expect(reply.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(reply.text).toMatch(/\r\nConnection: close\r\n/i);
    expect(reply.text).toMatch(/ok$/);
    expect(origin.requests).toHaveLength(1);
  });
});

describe('trouble while upgrading', () => {
  interface TroubleRow {
    readonly what: string;
    /** What the origin sends; `reset` and `silence` mean that. */
    readonly answer: string;
    readonly status: number;
  }
  const ROWS: readonly TroubleRow[] = [
    { what: 'the origin resets', answer: 'reset', status: 502 },
    {
      what: 'the origin refuses with 404',
      answer: 'HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n',
      status: 404,
    },
    {
      what: 'the origin refuses with 502',
      answer: 'HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n',
      status: 502,
    },
    { what: 'the origin answers nonsense', answer: 'nonsense\r\n\r\n', status: 502 },
    { what: 'the origin is silent', answer: 'silence', status: 504 },
  ];

  it.each(ROWS)('$what: $status', async ({ answer, status }) => {
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        if (answer === 'reset') socket.resetAndDestroy();
        return answer === 'reset' || answer === 'silence' ? null : answer;
      },
    });
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url, 300);
    const reply = await sendRaw(gateway.port, HANDSHAKE);
    expect(reply.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(reply.end).not.toBe('open');
    await waitUntil('no leftover connection', () => origin.openConnections() === 0);
  });

  it('a refused connection is 502, an unknown host 421', async () => {
    const gateway = await gatewayFor('http://127.0.0.1:1');
    expect((await sendRaw(gateway.port, HANDSHAKE)).text).toMatch(/^HTTP\/1\.1 502 /);
    const other = HANDSHAKE.replace('good.example', 'other.example');
    expect((await sendRaw(gateway.port, other)).text).toMatch(/^HTTP\/1\.1 421 /);
    const repeated = HANDSHAKE.replace('\r\n', '\r\nHost: evil.example\r\n');
    expect((await sendRaw(gateway.port, repeated)).text).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a reset on either side of an open tunnel ends the other and nothing else', async () => {
    const { url, server } = await startEchoServer();
    const gateway = await gatewayFor(url);
    const first = openSocket(gateway).on('error', () => undefined);
    await once(first, 'open');
    const closed = once(first, 'close');
    for (const client of server.clients) client.terminate();
    await closed;
    const second = openSocket(gateway).on('error', () => undefined);
    await once(second, 'open');
    second.terminate();
    await waitUntil('the origin to notice', () => server.clients.size === 0);
    const third = openSocket(gateway);
    await once(third, 'open');
    third.terminate();
  });

  it('a client that leaves during the handshake frees the origin', async () => {
    const origin = await startRawOrigin({ answer: () => null });
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url);
    await sendRaw(gateway.port, HANDSHAKE, {
      timeoutMs: 5_000,
      onConnected: (socket) => {
        void waitUntil('the handshake', () => origin.requests.length === 1).then(() =>
          socket.destroy(),
        );
      },
    });
    await waitUntil('the origin connection to close', () => origin.openConnections() === 0);
    expect(gateway.outcomes[0]?.error).toBe('client_left');
  });
});

describe('other upgrades are served as plain HTTP', () => {
  it('with their body, and the connection lives on', async () => {
    const origin = await startRawOrigin();
    cleanUps.push(origin.close);
    const gateway = await gatewayFor(origin.url);
    const upgrade =
      'POST /p HTTP/1.1\r\nHost: good.example\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n';
    const next = 'GET /next HTTP/1.1\r\nHost: good.example\r\n\r\n';
    const reply = await sendRaw(gateway.port, `${upgrade}hel`, {
      until: hasAnswers(2),
      onConnected: (socket) => setImmediate(() => socket.write(`lo${next}`)),
    });
    expect(reply.end).toBe('open');
    expect(origin.requests.map(({ target, body }) => [target, body])).toEqual([
      ['/p', 'hello'],
      ['/next', ''],
    ]);
  });
});
