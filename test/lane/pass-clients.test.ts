// Clients of what the lane passes on: who leave, who send the next request early, who read slowly;
// and a gateway that ends meanwhile.
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { RawRequest } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, type Stage } from '../scenario/stage.ts';
import { holdStage } from './hold-stage.ts';
import { countParsed, openClient, slowly } from './lane-client.ts';
import { humanGet } from './pass-client.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const requestLines = ({ gateway }: Stage) => gateway.log.filter(({ msg }) => msg === 'request');

describe('a client that leaves', () => {
  test.each([
    ['before the head', null],
    ['behind the head', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'],
    ['inside a body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'],
    ['between events', `${CHUNKED}3\r\nabc\r\n`],
  ])('%s takes the origin’s connection along', async (_what, bytes) => {
    const stage = await holdStage();
    const lines: unknown[] = [];
    for (const way of [(request: string) => request, slowly]) {
      const parsed = countParsed(stage.gateway.port);
      const client = await openClient(stage.gateway.port);
      stage.held.clear();
      client.send(way(humanGet('/held')));
      const origin = await stage.isHeld('/held');
      if (bytes !== null) origin.write(bytes);
      if (bytes !== null) await waitUntil('it begins', () => client.text().includes('\r\n\r\n'));
      client.socket.destroy();
      await waitUntil('the origin is left', () => stage.origin.openConnections() === 0);
      await waitUntil('it is told', () => requestLines(stage).length === lines.length + 1);
      const {
        request_id: _id,
        time: _time,
        duration_ms: _ms,
        ...rest
      } = requestLines(stage).at(-1) ?? {};
      lines.push(rest);
      expect(parsed()).toBe(way === slowly ? 1 : 0);
    }
    expect(lines[0]).toMatchObject({ aborted: true });
    expect(lines[0]).toEqual(lines[1]);
  });

  test.each([
    ['at once', (socket: Socket) => void socket.destroy()],
    ['with a reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['never', () => undefined],
  ])('%s, having sent too much to be read meanwhile, holds no connection', async (_, leave) => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    origin.write(`${CHUNKED}3\r\nabc\r\n`);
    await waitUntil('it begins', () => client.text().includes('abc'));
    client.send('x'.repeat(300_000));
    leave(client.socket);
    await waitUntil('the origin is left', () => stage.origin.openConnections() === 0);
  });

  test('by ending its side gets nothing more, and is told once', async () => {
    const stage = await holdStage();
    for (const bytes of [null, `${CHUNKED}3\r\nabc\r\n`]) {
      const client = await openClient(stage.gateway.port);
      stage.held.clear();
      client.send(humanGet('/held'));
      const origin = await stage.isHeld('/held');
      if (bytes !== null) origin.write(bytes);
      if (bytes !== null) await waitUntil('it begins', () => client.text().includes('abc'));
      client.socket.end();
      await waitUntil('the origin is left', () => stage.origin.openConnections() === 0);
      await waitUntil('it is closed', client.isClosed);
    }
    expect(requestLines(stage)).toHaveLength(2);
    expect(requestLines(stage).every(({ aborted }) => aborted === true)).toBe(true);
    expect(await (await openClient(stage.gateway.port)).ask(humanGet('/'))).toContain('GET /');
  });
});

describe('a pipeline', () => {
  const post = (target: string, body: string): string =>
    `POST ${target} HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const get = humanGet;
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['of plain ones', [get('/1'), get('/2'), get('/3')]],
    ['of both ways', [get('/1'), slowly(get('/2')), get('/3'), slowly(get('/4')), get('/5')]],
    ['that begins the long way', [slowly(get('/1')), get('/2'), slowly(get('/3'))]],
    [
      'with bodies',
      [get('/1'), post('/2', 'body'), get('/3'), post('/4', get('/evil')), get('/5')],
    ],
    ['with HEAD', [get('/1'), get('/2').replace('GET', 'OPTIONS'), get('/3')]],
  ];
  const texts = (requests: readonly string[]): string[] =>
    requests.map((request) => /\/(\d)/.exec(request)?.[1] ?? '');

  test.each(rows)('%s in one packet is answered in its order', async (_what, requests) => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(requests.join(''));
    await expectInOrder(stage, client, requests);
  });

  test.each(rows)('%s in packets is answered in its order', async (_what, requests) => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    for (const request of requests) {
      client.send(request);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expectInOrder(stage, client, requests);
  });

  test.each(rows)('%s behind a running one, cut anywhere', async (_what, requests) => {
    const stage = await holdStage();
    const bytes = requests.join('');
    for (let at = 1; at < bytes.length; at += 37) {
      const client = await openClient(stage.gateway.port);
      stage.held.clear();
      client.send(get('/held'));
      const origin = await stage.isHeld('/held');
      client.send(bytes.slice(0, at));
      origin.write(`${CHUNKED}3\r\nabc\r\n`);
      await waitUntil('it begins', () => client.text().includes('abc'));
      client.send(bytes.slice(at));
      origin.write('0\r\n\r\n');
      await client.answers(requests.length + 1);
      const targets = [...client.text().matchAll(/^(?:GET|POST|OPTIONS) \/(\d) /gm)];
      expect(targets.map(([, target]) => target)).toEqual(texts(requests));
      client.socket.destroy();
    }
  });

  async function expectInOrder(
    { origin }: Stage,
    client: Awaited<ReturnType<typeof openClient>>,
    requests: readonly string[],
  ): Promise<void> {
    const answers = await client.answers(requests.length);
    const targets = answers.map((text) => /\r\n\r\n\w+ \/(\d)/.exec(text)?.[1]);
    expect(targets).toEqual(texts(requests));
    expect(origin.requests.map(({ target }: RawRequest) => target)).not.toContain('/evil');
    expect(origin.requests).toHaveLength(requests.length);
  }

  test('does not get ahead of a running answer', async () => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(get('/held'));
    const origin = await stage.isHeld('/held');
    client.send(get('/1'));
    await (await openClient(stage.gateway.port)).ask(get('/other'));
    expect(client.text()).toBe('');
    expect(stage.origin.heads).toHaveLength(2);
    origin.write(answer(200, 'held'));
    expect((await client.answers(2)).map((text) => text.slice(-4))).toEqual(['held', ' /1 ']);
  });

  test('that never ends holds no more than a little', async () => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(get('/held'));
    const origin = await stage.isHeld('/held');
    // More than sockets on both sides take.
    client.send(get(`/1?${'x'.repeat(900)}`).repeat(16_000));
    await (await openClient(stage.gateway.port)).ask(get('/other'));
    expect(client.socket.writableLength).toBeGreaterThan(1_000_000);
    origin.write(answer(200, 'held'));
    await waitUntil('it goes on', () => stage.origin.requests.length > 20);
    client.socket.destroy();
  });
});

test('a GET with a body goes the long way, and its body nowhere', async () => {
  const stage = await holdStage();
  const parsed = countParsed(stage.gateway.port);
  const client = await openClient(stage.gateway.port);
  const body = humanGet('/evil');
  const withBody = humanGet('/1', [`Content-Length: ${body.length}`]) + body;
  const inChunks = `${humanGet('/2', ['Transfer-Encoding: chunked'])}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (const request of [withBody, inChunks, humanGet('/3')]) await client.ask(request);
  expect(parsed()).toBe(2);
  expect(stage.origin.requests.map(({ target }) => target)).toEqual(['/1', '/2', '/3']);
  expect(stage.origin.requests.every(({ body: sent }) => sent === '')).toBe(true);
});

describe('idle_timeout', () => {
  const options = { gateway: 'server:\n  limits: {idle_timeout: 1s}\n' };

  test('does not end an answer that takes longer, and ends the silence behind it', async () => {
    const stage = await holdStage(options);
    const client = await openClient(stage.gateway.port);
    // Behind an answer of the long way Node has a timer of its own.
    await client.ask(slowly(humanGet('/1')));
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    origin.write(CHUNKED);
    for (let event = 0; event < 5; event += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      origin.write('3\r\nabc\r\n');
    }
    origin.write('0\r\n\r\n');
    await client.answers(2);
    expect(client.isClosed()).toBe(false);
    await waitUntil('it is closed', client.isClosed);
  });
});

describe('a gateway that ends', () => {
  test('lets an answer end that has begun, and the connection with the next', async () => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    origin.write(`${CHUNKED}3\r\nabc\r\n`);
    await waitUntil('it begins', () => client.text().includes('abc'));
    const stopped = stage.gateway.stop();
    client.send(humanGet('/next'));
    origin.write('3\r\ndef\r\n0\r\n\r\n');
    const [first, second] = await client.answers(2);
    expect(first).toMatch(/abc\r\n3\r\ndef\r\n0\r\n\r\n$/);
    expect(second).toMatch(/\r\nConnection: close\r\n[^]*GET \/next/);
    await waitUntil('it is closed', client.isClosed);
    await stopped;
  });

  const POST = 'POST /posted HTTP/1.1\r\nHost: site.test\r\nContent-Length: 0\r\n\r\n';

  test('still answers what has been asked already', async () => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    const other = await openClient(stage.gateway.port);
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    client.send(POST);
    await other.ask(humanGet('/other'));
    const stopped = stage.gateway.stop();
    origin.write(answer(200, 'held'));
    const [first, second] = await client.answers(2);
    expect(first).toMatch(/held$/);
    expect(second).toMatch(/\r\nConnection: close\r\n[^]*POST \/posted/);
    await stopped;
  });

  test('says so in an answer that begins, and takes nothing behind it', async () => {
    const stage = await holdStage();
    const client = await openClient(stage.gateway.port);
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    const stopped = stage.gateway.stop();
    origin.write(answer(200, 'held'));
    const [only] = await client.answers(1);
    expect(only).toContain('\r\nConnection: close\r\n');
    client.send(POST);
    await waitUntil('it is closed', client.isClosed);
    await stopped;
    expect(client.text()).toMatch(/held$/);
    expect(stage.origin.requests.map(({ target }) => target)).toEqual(['/held']);
    expect(requestLines(stage)).toHaveLength(1);
    expect(requestLines(stage)[0]).not.toHaveProperty('aborted');
  });
});

describe('a body that is large or slow', () => {
  test('events come one by one', async () => {
    const stage = await holdStage();
    const parsed = countParsed(stage.gateway.port);
    const client = await openClient(stage.gateway.port);
    client.send(humanGet('/held'));
    const origin = await stage.isHeld('/held');
    origin.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
    await waitUntil('the head', () => client.text().includes('\r\n\r\n'));
    for (let event = 0; event < 5; event += 1) {
      origin.write(`data: ${event}\n\n`);
      await waitUntil('the event', () => client.text().endsWith(`data: ${event}\n\n\r\n`));
    }
    origin.end();
    await client.answers(1);
    expect(parsed()).toBe(0);
  });

  test.each(['Content-Length: 100000000', 'Transfer-Encoding: chunked', 'X: until the end'])(
    '100 MB (%s): the origin waits for a slow client, in little memory',
    async (framing) => {
      const stage = await holdStage();
      const client = await openClient(stage.gateway.port);
      let bytes = 0;
      client.socket.removeAllListeners('data');
      client.socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      client.socket.pause();
      client.send(humanGet('/held'));
      const origin = await stage.isHeld('/held');
      const piece = Buffer.alloc(1_000_000, 'x');
      const isChunked = framing.includes('chunked');
      origin.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`);
      let written = 0;
      const writeOn = (): void => {
        while (written < 100 && origin.writableLength < 2_000_000) {
          written += 1;
          if (isChunked) origin.write(`${piece.length.toString(16)}\r\n`);
          origin.write(piece);
          if (isChunked) origin.write(written < 100 ? '\r\n' : '\r\n0\r\n\r\n');
        }
        if (written === 100 && framing.startsWith('X')) origin.end();
      };
      origin.on('drain', writeOn);
      const before = process.memoryUsage();
      writeOn();
      let stillAt = -1;
      await waitUntil('the origin waits', async () => {
        const isStill = stillAt === written;
        stillAt = written;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return isStill;
      });
      expect(written).toBeLessThan(40);
      const { external, arrayBuffers } = process.memoryUsage();
      expect(external - before.external).toBeLessThan(30_000_000);
      expect(arrayBuffers - before.arrayBuffers).toBeLessThan(30_000_000);
      client.socket.resume();
      await waitUntil('all of it', () => bytes >= 100_000_000);
      await waitUntil('it is told', () => requestLines(stage).length === 1);
      expect(requestLines(stage)[0]).not.toHaveProperty('aborted');
    },
  );
});
