// Connections on both sides of bypass: who leaves takes the other side along, dead kept connections
// are tried once more, and certificates are believed only when they deserve it.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type BypassGateway, startBypassGateway } from '../helpers/bypass-gateway.ts';
import { hasAnswers, sendRaw, statusesOf } from '../helpers/raw-client.ts';
import {
  OK_ANSWER,
  type RawOrigin,
  type RawOriginOptions,
  startRawOrigin,
} from '../helpers/raw-origin.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(
  script: RawOriginOptions,
  timeoutMs = 5_000,
): Promise<{ origin: RawOrigin; gateway: BypassGateway }> {
  const origin = await startRawOrigin(script);
  cleanUps.push(origin.close);
  const gateway = await startBypassGateway({ originUrl: origin.url, target: { timeoutMs } });
  cleanUps.push(gateway.close);
  return { origin, gateway };
}

const request = (method: string, target: string, body = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: good.example\r\n${
    body === '' ? '' : `Content-Length: ${body.length}\r\n`
  }\r\n${body}`;

describe('a client that leaves (I3)', () => {
  it('before the answer aborts 200 upstream requests at once', async () => {
    const { origin, gateway } = await start({ answer: () => null }, 60_000);
    const clients: Socket[] = [];
    const replies = Array.from({ length: 200 }, () =>
      sendRaw(gateway.port, request('GET', '/'), { onConnected: (socket) => clients.push(socket) }),
    );
    await waitUntil('all requests at the origin', () => origin.requests.length === 200);
    for (const client of clients) client.destroy();
    await Promise.all(replies);
    await waitUntil('no upstream connection', () => origin.openConnections() === 0);
    await waitUntil('all outcomes', () => gateway.outcomes.length === 200);
    expect(new Set(gateway.outcomes.map(({ error }) => error))).toEqual(new Set(['client_left']));
  });

  it('in the middle of the answer aborts it', async () => {
    const { origin, gateway } = await start({
      answer: () => 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome',
    });
    await sendRaw(gateway.port, request('GET', '/'), { until: (text) => text.endsWith('some') });
    await waitUntil('no upstream connection', () => origin.openConnections() === 0);
  });

  it('in the middle of the upload aborts it', async () => {
    const { origin, gateway } = await start({});
    await sendRaw(gateway.port, request('POST', '/', 'x'.repeat(100)).slice(0, -50), {
      onConnected: (socket) => {
        void waitUntil('the head', () => origin.heads.length === 1).then(() => socket.destroy());
      },
    });
    await waitUntil('no upstream connection', () => origin.openConnections() === 0);
    expect(origin.requests).toEqual([]);
  });
});

describe('a kept connection that the origin has given up', () => {
  interface RetryRow {
    readonly what: string;
    readonly bytes: string;
    readonly status: number;
    /** Requests at the origin, the first one that opened the connection included. */
    readonly attempts: number;
    /** How many of them, after the first, are dropped. */
    readonly dropped: number;
  }
  const ROWS: readonly RetryRow[] = [
    {
      what: 'GET is sent once more',
      bytes: request('GET', '/b'),
      status: 200,
      attempts: 3,
      dropped: 1,
    },
    { what: 'but only once', bytes: request('GET', '/b'), status: 502, attempts: 3, dropped: 9 },
    {
      what: 'POST is not',
      bytes: request('POST', '/b', 'x'),
      status: 502,
      attempts: 2,
      dropped: 9,
    },
    {
      what: 'nor a PUT with a body',
      bytes: request('PUT', '/b', 'x'),
      status: 502,
      attempts: 2,
      dropped: 9,
    },
  ];

  it.each(ROWS)('$what', async ({ bytes, status, attempts, dropped }) => {
    let left = dropped;
    const { origin, gateway } = await start({
      answer: ({ target }, socket) => {
        if (target === '/a' || left === 0) return OK_ANSWER;
        left -= 1;
        socket.destroy();
        return null;
      },
    });
    await sendRaw(gateway.port, request('GET', '/a'), { until: hasAnswers(1) });
    const reply = await sendRaw(gateway.port, bytes, { until: hasAnswers(1) });
    expect(statusesOf(reply.text)).toEqual([status]);
    expect(origin.requests).toHaveLength(attempts);
  });

  it('connections are kept and used again', async () => {
    const { origin, gateway } = await start({});
    for (let i = 0; i < 5; i += 1) {
      await sendRaw(gateway.port, request('GET', '/'), { until: hasAnswers(1) });
    }
    expect(origin.requests).toHaveLength(5);
    expect(origin.openConnections()).toBe(1);
  });
});

it('an origin with a certificate nobody vouches for is refused (G15)', async () => {
  const origin = createServer(makeCertificate('127.0.0.1'), (_request, response) =>
    response.end('ok'),
  );
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  cleanUps.push(async () => {
    origin.closeAllConnections();
    origin.close();
  });
  const { port } = origin.address() as AddressInfo;
  const gateway = await startBypassGateway({ originUrl: `https://127.0.0.1:${port}` });
  cleanUps.push(gateway.close);
  const reply = await sendRaw(gateway.port, request('GET', '/'), { until: hasAnswers(1) });
  expect(statusesOf(reply.text)).toEqual([502]);
  expect(reply.text).toContain('error=tls_certificate_error');
});
