// What every maker of bare connections to origins has to hold: a link belongs to one request at a
// time, what comes is handed on in order and only for the moment, an end is told once, and nothing
// that an origin says between two requests is taken for an answer.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OriginLink, OriginLinks } from '../../src/pipeline/origin-ports.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface LinkOrigin {
  readonly url: string;
  /** Of every connection there ever was, in their order. */
  readonly sockets: readonly Socket[];
  /** What has come over each, latin1. */
  readonly received: readonly string[];
}

/** An origin that says what a test has it say. */
async function startOrigin(): Promise<LinkOrigin> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const index = sockets.push(socket) - 1;
    received.push('');
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received[index] += bytes.toString('latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, sockets, received };
}

/** A request's end of a link: what it was told. */
function listenTo(link: OriginLink) {
  const chunks: Buffer[] = [];
  const ends: boolean[] = [];
  link.listen({
    // A copy: the chunk is written over.
    onData: (chunk) => void chunks.push(Buffer.from(chunk)),
    onClosed: (isBroken) => void ends.push(isBroken),
  });
  return { ends, bytes: () => Buffer.concat(chunks), text: () => Buffer.concat(chunks).toString() };
}

export function testOriginLinks(create: () => OriginLinks): void {
  const open = (): OriginLinks => {
    const links = create();
    onTestFinished(links.close);
    return links;
  };

  /** A link over which one request has been answered. */
  async function answerOne(links: OriginLinks, origin: LinkOrigin): Promise<OriginLink> {
    const link = links.open(origin.url);
    const heard = listenTo(link);
    link.write('one');
    const index = origin.sockets.length;
    await waitUntil('the request is there', () => origin.received[index] === 'one');
    origin.sockets[index]?.write('answer');
    await waitUntil('the answer is there', () => heard.text() === 'answer');
    return link;
  }

  const isGone = (socket: Socket | undefined): boolean =>
    socket === undefined || socket.destroyed || socket.readableEnded;

  describe('a link', () => {
    test('only to what is plain HTTP', () => {
      const links = open();
      expect(links.isUsable('https://127.0.0.1:1')).toBe(false);
      expect(links.isUsable('http://127.0.0.1:1')).toBe(true);
      expect(() => links.open('https://127.0.0.1:1')).toThrow();
    });

    test('carries bytes as they are, both ways, in order', async () => {
      const origin = await startOrigin();
      const link = open().open(origin.url);
      expect([link.isReused, link.isConnected()]).toEqual([false, false]);
      const heard = listenTo(link);
      link.write('GET /\xe9');
      link.write('\r\n\r\n');
      await waitUntil('it is written', () => origin.received[0] === 'GET /\xe9\r\n\r\n');
      expect(link.isConnected()).toBe(true);
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      origin.sockets[0]?.write(bytes);
      await waitUntil('it is read', () => heard.bytes().length === 256);
      expect(heard.bytes()).toEqual(bytes);
    });

    test('many at once: each listener gets its own', async () => {
      const origin = await startOrigin();
      const links = open();
      const heard: ReturnType<typeof listenTo>[] = [];
      for (let index = 0; index < 4; index += 1) {
        const link = links.open(origin.url);
        heard.push(listenTo(link));
        link.write('x');
        await waitUntil('it is open', () => origin.received.length === index + 1);
      }
      const bodies = heard.map((_, index) => Buffer.alloc(700_001, `${index}`));
      for (const [index, body] of bodies.entries()) origin.sockets[index]?.write(body);
      await waitUntil('all is read', () => heard.every(({ bytes }) => bytes().length === 700_001));
      for (const [index, { bytes }] of heard.entries()) {
        expect(bytes().equals(bodies[index] ?? Buffer.alloc(0))).toBe(true);
      }
    });

    test('paused it says nothing, and the origin has to wait; then it goes on', async () => {
      const origin = await startOrigin();
      const link = open().open(origin.url);
      const body = Buffer.alloc(16 * 1024 * 1024, 'a');
      let bytes = 0;
      let isPaused = false;
      let heardWhilePaused = 0;
      link.listen({
        onData: (chunk) => {
          bytes += chunk.length;
          if (isPaused) heardWhilePaused += 1;
          if (bytes === chunk.length) {
            isPaused = true;
            link.pause();
          }
        },
        onClosed: () => undefined,
      });
      link.write('x');
      await waitUntil('it is open', () => origin.sockets.length === 1);
      origin.sockets[0]?.write(body);
      await waitUntil('it is paused', () => isPaused);
      // The origin's system took what it could, and then nothing for a while.
      let written = -1;
      await waitUntil('the origin waits', async () => {
        const before = written;
        written = origin.sockets[0]?.bytesWritten ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return before === written;
      });
      expect([heardWhilePaused, bytes < body.length]).toEqual([0, true]);
      isPaused = false;
      link.resume();
      await waitUntil('all is read', () => bytes === body.length);
    });
  });

  describe('one owner', () => {
    test('whoever asks meanwhile gets another link; kept, it is the next one’s', async () => {
      const origin = await startOrigin();
      const links = open();
      const first = await answerOne(links, origin);
      const other = await answerOne(links, origin);
      expect(other).not.toBe(first);
      first.keep();
      const next = links.open(origin.url);
      expect([next === first, next.isReused, next.isConnected()]).toEqual([true, true, true]);
      const heard = listenTo(next);
      next.write('two');
      await waitUntil('it is written', () => origin.received[0] === 'onetwo');
      origin.sockets[0]?.write('second');
      await waitUntil('only the second is heard', () => heard.text() === 'second');
      expect(origin.sockets).toHaveLength(2);
      expect(links.open(origin.url).isReused).toBe(false);
    });

    test('of two origins each has its own', async () => {
      const [one, other] = [await startOrigin(), await startOrigin()];
      const links = open();
      (await answerOne(links, one)).keep();
      expect(links.open(other.url).isReused).toBe(false);
      expect(links.open(one.url).isReused).toBe(true);
    });

    test('there is a bound, and room again for each that is kept or ends', async () => {
      const origin = await startOrigin();
      const links = open();
      const opened: OriginLink[] = [];
      while (links.isUsable(origin.url) && opened.length < 5_000) {
        opened.push(links.open(origin.url));
      }
      expect(links.isUsable(origin.url)).toBe(false);
      await waitUntil('all are open', () => opened.every((link) => link.isConnected()));
      opened[0]?.keep();
      expect(links.isUsable(origin.url)).toBe(true);
      expect(links.open(origin.url)).toBe(opened[0]);
      expect(links.isUsable(origin.url)).toBe(false);
      opened[1]?.destroy();
      await waitUntil('there is room', () => links.isUsable(origin.url));
    });
  });

  describe('the end is told once', () => {
    const breaks: readonly (readonly [string, boolean, (socket: Socket) => void])[] = [
      ['the origin sends no more', false, (socket) => void socket.end('last')],
      ['the connection breaks', true, (socket) => void socket.resetAndDestroy()],
    ];
    test.each(breaks)('%s', async (_what, isBroken, end) => {
      const origin = await startOrigin();
      const links = open();
      const link = await answerOne(links, origin);
      const heard = listenTo(link);
      const [socket] = origin.sockets;
      if (socket !== undefined) end(socket);
      await waitUntil('it is told', () => heard.ends.length > 0);
      expect(heard.text()).toBe(isBroken ? '' : 'last');
      link.destroy();
      await waitUntil('the origin hears of it', () => isGone(socket));
      await answerOne(links, origin);
      expect(heard.ends).toEqual([isBroken]);
    });

    test('nobody is there', async () => {
      const links = open();
      const link = links.open(`http://127.0.0.1:${await findFreePort()}`);
      const heard = listenTo(link);
      link.write('x');
      await waitUntil('it is told', () => heard.ends.length > 0);
      expect([heard.ends, link.isConnected()]).toEqual([[true], false]);
    });

    test('never to who has ended it himself', async () => {
      const origin = await startOrigin();
      const links = open();
      const link = await answerOne(links, origin);
      const heard = listenTo(link);
      link.destroy();
      await waitUntil('the origin hears of it', () => isGone(origin.sockets[0]));
      await answerOne(links, origin);
      expect([heard.ends, heard.text()]).toEqual([[], '']);
    });
  });

  describe('between two requests', () => {
    const idle: readonly (readonly [string, (socket: Socket) => void])[] = [
      ['the origin says something unasked', (socket) => void socket.write('HTTP/1.1 408 Late')],
      ['the origin closes', (socket) => void socket.end()],
      ['the connection breaks', (socket) => void socket.resetAndDestroy()],
    ];
    test.each(idle)('%s: the link is nobody’s any more', async (_what, disturb) => {
      const origin = await startOrigin();
      const links = open();
      const link = await answerOne(links, origin);
      link.keep();
      const [socket] = origin.sockets;
      if (socket !== undefined) disturb(socket);
      let next = link;
      await waitUntil('another link is given', () => {
        next = links.open(origin.url);
        if (next.isReused) next.keep();
        return !next.isReused;
      });
      const heard = listenTo(next);
      next.write('two');
      await waitUntil('it is written', () => origin.received[1] === 'two');
      origin.sockets[1]?.write('second');
      await waitUntil('its own answer', () => heard.text() === 'second');
      expect(heard.ends).toEqual([]);
    });

    test('whose origin sends no more is not kept', async () => {
      const origin = await startOrigin();
      const links = open();
      const link = await answerOne(links, origin);
      const heard = listenTo(link);
      origin.sockets[0]?.end();
      await waitUntil('it is told', () => heard.ends.length > 0);
      link.keep();
      await waitUntil('the connection has ended', () => isGone(origin.sockets[0]));
      expect(links.open(origin.url).isReused).toBe(false);
    });

    test('one that nobody needs is closed after a while', { timeout: 20_000 }, async () => {
      const origin = await startOrigin();
      const links = open();
      (await answerOne(links, origin)).keep();
      await waitUntil('the connection has ended', () => isGone(origin.sockets[0]));
      expect(links.open(origin.url).isReused).toBe(false);
    });
  });

  test('closed, it ends idle and running connections', async () => {
    const origin = await startOrigin();
    const links = create();
    const [idle, running] = [await answerOne(links, origin), await answerOne(links, origin)];
    idle.keep();
    listenTo(running);
    links.close();
    await waitUntil('both have ended', () => origin.sockets.every(isGone));
  });
}
