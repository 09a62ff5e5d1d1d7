// Requests that are passed on for an answer that may be kept: one for all who could do with it, at
// once for each where it is for one alone; streamed as it comes, whole or not at all.
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import type { Answer, RawOriginOptions, RawRequest } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, HUMAN, type Reply, type Stage, type StageOptions, setStage } from './stage.ts';
import { limitWaiters, served, untilRefused } from './waiters.ts';

const CACHE = 'bypass: {cache: {enabled: true, ttl: 0s}}';
const FRESH = 'Cache-Control: max-age=60';
const CHUNKED = 'Transfer-Encoding: chunked';

const setUp = async (origin: Answer | RawOriginOptions, more: StageOptions = {}): Promise<Stage> =>
  await setStage({ host: CACHE, origin, ...more });

const get = async (stage: Stage, headers: readonly string[] = []): Promise<Reply> =>
  await stage.ask('/app.js', { userAgent: HUMAN, headers });

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** An origin that answers nothing before it is told to. */
function holdAnswers(make: (request: RawRequest) => string) {
  const waiting: (() => void)[] = [];
  let isHolding = true;
  const hold: Answer = (request, socket) => {
    if (!isHolding) return make(request);
    waiting.push(() => void socket.write(make(request), 'latin1'));
    return null;
  };
  return {
    answer: hold,
    held: () => waiting.length,
    releaseHeld: () => {
      for (const send of waiting.splice(0)) send();
    },
    release: () => {
      isHolding = false;
      for (const send of waiting.splice(0)) send();
    },
  };
}

/** A client that reads what comes; leaves when it is told to. */
async function open(
  stage: Stage,
  lines: readonly string[] = [],
): Promise<{ socket: Socket; seen: () => string }> {
  const socket = connect(stage.gateway.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  const head = ['GET /app.js HTTP/1.1', 'Host: site.test', `User-Agent: ${HUMAN}`, ...lines];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return { socket, seen: () => text };
}

describe('many at once', () => {
  test('two hundred want one file: one request', async () => {
    const origin = holdAnswers(() => answer(200, 'one', FRESH));
    const stage = await setUp(origin.answer, { gateway: limitWaiters(199) });
    const replies = Array.from({ length: 201 }, () => get(stage));
    await untilRefused(replies, 1);
    origin.release();
    const all = await served(replies);
    expect(all.map(({ body }) => body)).toEqual(Array.from({ length: 200 }, () => 'one'));
    expect(stage.origin.requests.length).toBe(1);
    const statuses = all.map((reply) => reply.header('Cache-Status') ?? '');
    expect(statuses.filter((status) => /; collapsed;/.test(status))).toHaveLength(199);
  });

  test('what is for one alone is asked for by all at once, again and again', async () => {
    const origin = holdAnswers(() => answer(200, 'mine', 'Cache-Control: no-store'));
    const stage = await setUp(origin.answer);
    const first = Array.from({ length: 200 }, () => get(stage));
    await waitUntil('one has gone ahead', () => origin.held() === 1);
    origin.releaseHeld();
    await waitUntil('the rest follow together', () => origin.held() >= 190);
    origin.releaseHeld();
    await waitUntil('all are there', () => stage.origin.requests.length === 200);
    origin.releaseHeld();
    await Promise.all(first);
    const second = Array.from({ length: 200 }, () => get(stage));
    await waitUntil('all have gone at once', () => origin.held() === 200);
    origin.release();
    for (const { body } of await Promise.all(second)) expect(body).toBe('mine');
    expect(stage.origin.requests.length).toBe(400);
  });

  test('who waits for one variant and needs another gets its own', async () => {
    const origin = holdAnswers(({ fields }) => {
      const language = fields.find(([name]) => name === 'accept-language')?.[1] ?? '';
      return answer(200, language, FRESH, 'Vary: Accept-Language');
    });
    const stage = await setUp(origin.answer, { gateway: limitWaiters(3) });
    const languages = ['de', 'en', 'de', 'en', 'de'];
    const replies = languages.map((one) => get(stage, [`Accept-Language: ${one}`]));
    await untilRefused(replies, 1);
    origin.release();
    for (const [index, { status, body }] of (await Promise.all(replies)).entries()) {
      if (status !== 503) expect([status, body]).toEqual([200, languages[index]]);
    }
  });

  test('an answer with credentials is shared with nobody who waits', async () => {
    const origin = holdAnswers(({ fields }) => {
      return answer(200, fields.find(([name]) => name === 'authorization')?.[1] ?? 'nobody', FRESH);
    });
    const stage = await setUp(origin.answer);
    const anna = get(stage, ['Authorization: anna']);
    await waitUntil('hers is there', () => origin.held() === 1);
    const other = get(stage);
    await waitUntil('the other one too', () => origin.held() === 2);
    origin.release();
    expect([(await anna).body, (await other).body]).toEqual(['anna', 'nobody']);
    expect((await get(stage)).body).toBe('nobody');
  });
});

describe('streamed', () => {
  /** Sends the head and one piece, then waits. */
  function startBody(...lines: readonly string[]) {
    const sockets: Socket[] = [];
    const start: Answer = (_request, socket) => {
      sockets.push(socket);
      return ['HTTP/1.1 200 OK', CHUNKED, ...lines, '', chunk('first')].join('\r\n');
    };
    return { start, socket: () => sockets[0], count: () => sockets.length };
  }

  test.each([
    ['kept', FRESH],
    ['not kept', 'Cache-Control: no-store'],
    ['an event stream', 'Content-Type: text/event-stream'],
  ])('what is %s comes as it comes', async (_name, line) => {
    const origin = startBody(line);
    const stage = await setUp(origin.start);
    const client = await open(stage);
    await waitUntil('the first piece is through', () => client.seen().includes('first'));
    origin.socket()?.write(`${chunk('second')}0\r\n\r\n`);
    await waitUntil('and the end', () => client.seen().endsWith('0\r\n\r\n'));
    expect(client.seen()).toContain('second');
  });

  test('who asked leaves: the file is kept all the same', async () => {
    const origin = startBody(FRESH);
    const stage = await setUp(origin.start);
    const client = await open(stage);
    await waitUntil('the first piece is through', () => client.seen().includes('first'));
    client.socket.destroy();
    await waitUntil('he has left', () =>
      stage.gateway.log.some((line) => line['aborted'] === true),
    );
    origin.socket()?.write(`${chunk('second')}0\r\n\r\n`);
    expect((await get(stage)).body).toBe('firstsecond');
    expect((await get(stage)).header('X-Render-Cache')).toBe('hit');
    expect(origin.count()).toBe(1);
  });

  test('who asked leaves: what was for him alone ends at the origin', async () => {
    const origin = startBody('Cache-Control: no-store');
    const stage = await setUp(origin.start);
    const client = await open(stage);
    await waitUntil('the first piece is through', () => client.seen().includes('first'));
    client.socket.destroy();
    await waitUntil('the origin is told', () => origin.socket()?.destroyed === true);
  });

  test('what is cut is cut for the client, and kept for nobody', async () => {
    const origin = startBody(FRESH);
    const stage = await setUp(origin.start);
    const client = await open(stage);
    await waitUntil('the first piece is through', () => client.seen().includes('first'));
    origin.socket()?.destroy();
    await waitUntil('the client is cut off', () => client.socket.destroyed);
    expect(client.seen()).not.toContain('0\r\n\r\n');
    const next = await open(stage);
    await waitUntil('the next one asks the origin', () => origin.count() === 2);
    next.socket.destroy();
  });

  test('what is cut is asked for once, for all who wait', async () => {
    const origin = startBody(FRESH);
    const stage = await setUp(origin.start, { gateway: limitWaiters(29) });
    const first = await open(stage);
    await waitUntil('the first piece is through', () => first.seen().includes('first'));
    const others = Array.from({ length: 30 }, () => get(stage));
    await untilRefused(others, 1);
    origin.socket()?.destroy();
    const replies = await served(others);
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 29 }, () => 502));
    expect(origin.count()).toBe(1);
  });

  test('what is too large to be kept comes whole', async () => {
    const large = 'x'.repeat(300_000);
    const make = (): string =>
      ['HTTP/1.1 200 OK', CHUNKED, FRESH, '', `${chunk(large)}0\r\n\r\n`].join('\r\n');
    const stage = await setUp(make, { gateway: 'server:\n  limits: {page_bytes: 64KiB}\n' });
    for (let i = 1; i <= 2; i += 1) {
      expect((await get(stage)).body).toBe(large);
      expect(stage.origin.requests.length).toBe(i);
    }
  });

  test('what ends with the connection is passed on and not kept', async () => {
    const stage = await setUp((_request, socket) => {
      socket.end(`HTTP/1.1 200 OK\r\n${FRESH}\r\n\r\nopen end`);
      return null;
    });
    expect((await get(stage)).body).toBe('open end');
    await get(stage);
    expect(stage.origin.requests.length).toBe(2);
  });
});

describe('passed on as it is', () => {
  test('an odd status with its phrase', async () => {
    const stage = await setUp(() => 'HTTP/1.1 999 Very Odd\r\nContent-Length: 3\r\n\r\nodd');
    const reply = await get(stage);
    expect(reply.head.split('\r\n')[0]).toBe('HTTP/1.1 999 Very Odd');
    expect(reply.body).toBe('odd');
  });

  test('an interim answer before the one that is kept', async () => {
    const stage = await setUp(
      () => `HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n${answer(200, 'page', FRESH)}`,
    );
    const head = ['GET /app.js HTTP/1.1', 'Host: site.test', `User-Agent: ${HUMAN}`];
    const bytes = `${head.join('\r\n')}\r\nConnection: close\r\n\r\n`;
    const { text } = await sendRaw(stage.gateway.port, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 /);
    expect((await get(stage)).header('X-Render-Cache')).toBe('hit');
  });

  test('trailer fields of what is not kept', async () => {
    const stage = await setUp(
      () => `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n\r\n${chunk('body')}0\r\nX-Sum: 7\r\n\r\n`,
    );
    const client = await open(stage);
    await waitUntil(
      'it has come',
      () => client.seen().endsWith('\r\n\r\n') && client.seen().includes('body'),
    );
    expect(client.seen().toLowerCase()).toContain('0\r\nx-sum: 7\r\n');
  });

  test('what the client must not say for a proxy is not passed on', async () => {
    const stage = await setUp(() => answer(200, 'page', FRESH));
    await get(stage, ['X-Forwarded-Host: evil.test', 'X-Original-URL: /evil', 'Forwarded: for=x']);
    const [request] = stage.origin.requests;
    expect(request?.head).not.toContain('evil');
    expect(request?.fields).toContainEqual(['x-forwarded-host', 'site.test']);
    expect(request?.fields).toContainEqual(['x-forwarded-for', '127.0.0.1']);
  });
});
