// The attack cases that are about time and quantity: A88 to A92, and idle connections.
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BypassGateway,
  type BypassGatewayOptions,
  startBypassGateway,
} from '../helpers/bypass-gateway.ts';
import { hasAnswers, sendRaw, splitAnswers, statusesOf } from '../helpers/raw-client.ts';
import {
  OK_ANSWER,
  type RawOrigin,
  type RawOriginOptions,
  startRawOrigin,
} from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { get, post } from './attack-rows.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(
  limits: BypassGatewayOptions['limits'] = {},
  script: RawOriginOptions = {},
): Promise<{ origin: RawOrigin; gateway: BypassGateway }> {
  const origin = await startRawOrigin(script);
  cleanUps.push(origin.close);
  const gateway = await startBypassGateway({ originUrl: origin.url, limits });
  cleanUps.push(gateway.close);
  return { origin, gateway };
}

describe('slow clients', () => {
  it('A88: a body that stalls ends with 408, and upstream is aborted', async () => {
    const { gateway, origin } = await start({ bodyIdleTimeoutMs: 200 });
    const reply = await sendRaw(gateway.port, post('Content-Length: 10', 'x'));
    expect(reply.text).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close/);
    expect(reply.end).not.toBe('open');
    expect(gateway.refused).toEqual(['body_timeout']);
    expect(origin.requests).toEqual([]);
    await waitUntil('upstream to be aborted', () => origin.openConnections() === 0);
  });

  it('a body that comes slowly but steadily passes', async () => {
    const { gateway, origin } = await start({ bodyIdleTimeoutMs: 300 });
    const reply = await sendRaw(gateway.port, post('Content-Length: 8', ''), {
      until: hasAnswers(1),
      onConnected: (socket) => {
        let sent = 0;
        const timer = setInterval(() => {
          socket.write('x');
          sent += 1;
          if (sent === 8) clearInterval(timer);
        }, 80);
      },
    });
    expect(reply.text).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.requests[0]?.body).toBe('xxxxxxxx');
  });

  it('A89: a head that comes line by line ends with 408', async () => {
    const { gateway, origin } = await start({ headersTimeoutMs: 300 });
    const timers: NodeJS.Timeout[] = [];
    const reply = await sendRaw(gateway.port, 'GET /g HTTP/1.1\r\nHost: good.example\r\n', {
      onConnected: (socket) => {
        timers.push(setInterval(() => socket.write('X: 1\r\n'), 50));
        socket.once('close', () => timers.forEach(clearInterval));
      },
    });
    expect(reply.text).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close/);
    expect(gateway.refused).toEqual(['headers_timeout']);
    expect(origin.heads).toEqual([]);
  });

  it('an idle kept connection is closed', async () => {
    const { gateway } = await start({ keepAliveTimeoutMs: 100 });
    const reply = await sendRaw(gateway.port, get());
    expect(statusesOf(reply.text)).toEqual([200]);
    expect(reply.end).toBe('closed');
  });
});

describe('early and missing bodies', () => {
  it('A90: an answer that comes before the upload ends is passed on, then the connection closes', async () => {
    const { gateway } = await start(
      {},
      {
        onHead: (_head, socket) =>
          void socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!'),
        answer: () => null,
      },
    );
    const reply = await sendRaw(
      gateway.port,
      post('Content-Length: 5000000', 'x'.repeat(5_000_000)),
    );
    expect(splitAnswers(reply.text)[0]).toMatchObject({ status: 413, body: 'no!' });
    expect(reply.text).toMatch(/\r\nConnection: close/i);
    expect(reply.end).not.toBe('open');
  });

  it('F8: so is one to a client that asked first and never sends', async () => {
    const { gateway } = await start(
      {},
      {
        onHead: (_head, socket) =>
          void socket.write('HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n'),
        answer: () => null,
      },
    );
    const reply = await sendRaw(
      gateway.port,
      post('Expect: 100-continue\r\nContent-Length: 5000000', ''),
      { until: (text) => text.includes(' 401 ') },
    );
    expect(statusesOf(reply.text).at(-1)).toBe(401);
    expect(reply.text).toMatch(/\r\nConnection: close/i);
  });

  it('A92: an answer of our own without 100 closes; the body is never read as a request', async () => {
    const { gateway, origin } = await start();
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: good.example\r\n\r\n';
    const bytes = post(`Expect: 100-continue\r\nContent-Length: ${smuggled.length}`, '');
    const reply = await sendRaw(gateway.port, bytes.replace('good.example', 'other.example'), {
      onConnected: (socket) => void waitUntil('421', () => true).then(() => socket.write(smuggled)),
    });
    expect(statusesOf(reply.text)).toEqual([421]);
    expect(reply.text).toMatch(/\r\nConnection: close/i);
    expect(reply.end).not.toBe('open');
    expect(origin.heads).toEqual([]);
  });

  it('a body larger than allowed is cut off with 413 while it streams', async () => {
    const { gateway, origin } = await start({ bodyBytesMax: 100_000 });
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const reply = await sendRaw(
      gateway.port,
      post('Transfer-Encoding: chunked', `${chunk.repeat(8)}0\r\n\r\n`),
    );
    expect(reply.text).toMatch(/^HTTP\/1\.1 413 Content Too Large\r\n/);
    expect(origin.requests).toEqual([]);
  });

  it('E22: an announced one is refused before anything is asked of the origin', async () => {
    const { gateway, origin } = await start({ bodyBytesMax: 1_000 });
    const tooLarge = await sendRaw(gateway.port, post('Content-Length: 1001', ''), {
      until: hasAnswers(1),
    });
    expect(tooLarge.text).toMatch(
      /^HTTP\/1\.1 413 Content Too Large\r\n[^]*\r\nConnection: close/i,
    );
    expect(origin.heads).toEqual([]);
    const atLimit = post('Content-Length: 1000', 'x'.repeat(1_000));
    const fits = await sendRaw(gateway.port, atLimit, { until: hasAnswers(1) });
    expect(fits.text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('a body shorter than announced is never whole for the origin (F6)', async () => {
    const { gateway, origin } = await start();
    await sendRaw(gateway.port, post('Content-Length: 10', 'short'), {
      onConnected: (socket) => {
        void waitUntil('the head', () => origin.heads.length === 1).then(() => socket.end());
      },
    });
    await waitUntil('upstream to be aborted', () => origin.openConnections() === 0);
    expect(origin.requests).toEqual([]);
  });

  it('a body longer than announced does not disturb the answer (F6)', async () => {
    const { gateway, origin } = await start();
    const reply = await sendRaw(gateway.port, post('Content-Length: 3', 'hello'));
    expect(statusesOf(reply.text)[0]).toBe(200);
    expect(reply.end).not.toBe('open');
    expect(origin.requests.map(({ body }) => body)).toEqual(['hel']);
  });
});

it('A91: 10,000 pipelined requests are answered in order, one upstream connection at a time', async () => {
  let connectionsMax = 0;
  let origin: RawOrigin | null = null;
  const started = await start(
    {},
    {
      answer: () => {
        connectionsMax = Math.max(connectionsMax, origin?.openConnections() ?? 0);
        return OK_ANSWER;
      },
    },
  );
  origin = started.origin;
  const count = 10_000;
  const bytes = Array.from({ length: count }, (_, i) => get(`/${i}`)).join('');
  const last = get('/last').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const reply = await sendRaw(started.gateway.port, bytes + last, { timeoutMs: 110_000 });
  expect(reply.end).toBe('closed');
  expect(reply.text.match(/HTTP\/1\.1 200 OK\r\n/g)).toHaveLength(count + 1);
  expect(origin.requests.map(({ target }) => target)).toEqual([
    ...Array.from({ length: count }, (_, i) => `/${i}`),
    '/last',
  ]);
  expect(connectionsMax).toBe(1);
}, 120_000);
