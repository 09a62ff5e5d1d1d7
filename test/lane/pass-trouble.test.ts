// Origins in trouble, by the lane: refused, cut, silent, dribbling, saying too much. A client never
// takes half of an answer for a whole one, and never gets a word of somebody else's.
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import type { RawOriginOptions } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, type Stage, setStage } from '../scenario/stage.ts';
import { countParsed, openClient, slowly } from './lane-client.ts';
import { humanGet } from './pass-client.ts';

const GET = humanGet('/trouble');
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
const UNTIL_CLOSE = 'HTTP/1.1 200 OK\r\nX: 1\r\n\r\n';

/** What was told of one request, but for id, times and inner detail. */
async function told({ gateway }: Stage, count: number): Promise<Readonly<Record<string, unknown>>> {
  const lines = () => gateway.log.filter(({ msg }) => msg === 'request');
  await waitUntil('the log line', () => lines().length >= count);
  expect(lines()).toHaveLength(count);
  const {
    request_id: _id,
    time: _time,
    duration_ms: _ms,
    origin_detail: _detail,
    ...rest
  } = lines().at(-1) ?? {};
  return rest;
}

interface Row {
  readonly what: string;
  readonly bytes: string;
  readonly how: 'end' | 'reset';
  /** What the client has in the end, without head. */
  readonly body?: string;
  readonly status?: number;
  readonly error?: string;
}

const row = (what: string, bytes: string, rest: Partial<Row>): Row => {
  return { what, bytes, how: 'end', ...rest };
};

const UNANSWERED = { status: 502, error: 'connection_terminated' };
const ROWS: readonly Row[] = [
  row('before a head', '', UNANSWERED),
  row('before a head, by a reset', '', { ...UNANSWERED, how: 'reset' }),
  row('inside a head', 'HTTP/1.1 200 OK\r\nX', UNANSWERED),
  row('behind a head', LENGTH, {}),
  row('inside a length', `${LENGTH}abc`, { body: 'abc' }),
  row('inside a length, by a reset', `${LENGTH}abc`, { how: 'reset' }),
  row('behind a head of chunks', CHUNKED, {}),
  row('inside a size', `${CHUNKED}3`, {}),
  row('inside a chunk', `${CHUNKED}5\r\nabc`, { body: '3\r\nabc\r\n' }),
  row('behind a chunk', `${CHUNKED}3\r\nabc\r\n`, { body: '3\r\nabc\r\n' }),
  row('inside the last chunk', `${CHUNKED}3\r\nabc\r\n0\r\n`, { body: '3\r\nabc\r\n' }),
  row('inside trailers', `${CHUNKED}0\r\nX: 1\r\n`, {}),
  row('inside chunks, by a reset', `${CHUNKED}3\r\nabc\r\n`, { how: 'reset' }),
  row('before its end is told by a close', `${UNTIL_CLOSE}abc`, { how: 'reset' }),
];

/** Sends the answer and breaks off when the gateway has had a chance to read it. */
function breakOff(socket: Socket, { bytes, how }: Row): void {
  socket.write(bytes, 'latin1', () => {
    if (how === 'end') socket.end();
    else setTimeout(() => socket.resetAndDestroy(), 30);
  });
}

describe('an origin that breaks off', () => {
  test.each(ROWS)('$what', async (one) => {
    const stage = await setStage({
      origin: (_request, socket) => {
        breakOff(socket, one);
        return null;
      },
    });
    const { port } = stage.gateway;
    const parsed = countParsed(port);
    const status = one.status ?? 200;
    const isOver = (text: string): boolean => status !== 200 && text.includes('request id: ');
    const fast = await sendRaw(port, GET, { until: isOver });
    expect(parsed()).toBe(0);
    expect(stage.origin.heads).toHaveLength(1);
    expect(fast.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    if (one.error === undefined) expect(fast.end).not.toBe('open');
    else expect(fast.text).toContain(`Proxy-Status: edge-gateway; error=${one.error}\r\n`);
    expect(fast.text).not.toMatch(/(?:^|\n)0\r\n/);
    if (one.body !== undefined) expect(fast.text.split('\r\n\r\n').slice(1).join()).toBe(one.body);
    const line = await told(stage, 1);
    const cut = { aborted: true, origin_error: 'http_response_incomplete' };
    expect(line).toMatchObject({ status, ...(one.error === undefined && cut) });

    const slow = await sendRaw(port, slowly(GET), { until: isOver });
    expect(withoutIds(fast.text)).toBe(withoutIds(slow.text));
    expect(await told(stage, 2)).toEqual(line);
  });
});

/** Without what differs by time, and framing lines in their order. */
function withoutIds(text: string): string {
  const [head = '', ...rest] = text.replaceAll(/[0-9a-f-]{36}/g, '-').split('\r\n\r\n');
  const lines = head
    .replace(/^Date: .*$/m, 'Date: now')
    .split('\r\n')
    .toSorted();
  return [lines.join('\n'), ...rest].join('\n\n');
}

test('an origin that refuses is left to the long way: one word of it', async () => {
  const stage = await setStage();
  await stage.origin.close();
  const client = await openClient(stage.gateway.port);
  const parsed = countParsed(stage.gateway.port);
  for (let count = 1; count <= 3; count += 1) {
    const text = await client.ask(GET);
    expect(text).toMatch(/^HTTP\/1\.1 502 /);
    expect(text).toContain('Proxy-Status: edge-gateway; error=connection_refused');
    expect(await told(stage, count)).toMatchObject({ status: 502 });
  }
  expect(parsed()).toBe(3);
});

describe('an origin that is silent', () => {
  test.each([
    ['from the beginning', ''],
    ['inside its head', 'HTTP/1.1 200 OK\r\nX: 1\r\n'],
  ])('%s: 504 in time, and the client goes on', async (_what, bytes) => {
    const stage = await setStage({
      gateway: 'bypass: {timeout: 300ms}\n',
      origin: ({ target }) => (target === '/trouble' ? bytes : answer(200, 'fine')),
    });
    const client = await openClient(stage.gateway.port);
    const parsed = countParsed(stage.gateway.port);
    const text = await client.ask(GET);
    expect(text).toMatch(/^HTTP\/1\.1 504 /);
    expect(text).toContain('Proxy-Status: edge-gateway; error=http_response_timeout');
    expect(text).toContain('Connection: keep-alive');
    expect(await told(stage, 1)).toMatchObject({ status: 504 });
    await waitUntil('its connection is closed', () => stage.origin.openConnections() === 0);
    expect(await client.ask(humanGet('/'))).toContain('fine');
    expect(parsed()).toBe(0);
    expect(stage.origin.heads).toHaveLength(2);
  });

  test('inside its body: as long as it likes', async () => {
    const stage = await setStage({
      gateway: 'bypass: {timeout: 200ms}\n',
      origin: (_request, socket) => {
        setTimeout(() => socket.write('2\r\nok\r\n0\r\n\r\n'), 600);
        return CHUNKED;
      },
    });
    expect(await (await openClient(stage.gateway.port)).ask(GET)).toMatch(/2\r\nok\r\n0\r\n\r\n$/);
  });
});

test('an origin that dribbles is read byte by byte', async () => {
  const bytes = `${CHUNKED}3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n`;
  const stage = await setStage({
    origin: (_request, socket) => {
      socket.setNoDelay();
      void dribble(socket, bytes);
      return null;
    },
  });
  const parsed = countParsed(stage.gateway.port);
  const text = await (await openClient(stage.gateway.port)).ask(GET);
  expect(text.replaceAll(/\r\n\d\r\n/g, '')).toContain('abcde');
  expect(text).toMatch(/0\r\nX-Sum: 1\r\n\r\n$/);
  expect(parsed()).toBe(0);
});

async function dribble(socket: Socket, bytes: string): Promise<void> {
  for (const byte of bytes) {
    socket.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const EVIL = answer(200, 'of somebody else', 'X-Evil: 1');
const LARGE = 'x'.repeat(65_536 - answer(200, '', 'X: 0').length - 4);

describe('an origin that says more than it was asked', () => {
  const rows: readonly (readonly [string, Answering])[] = [
    ['at once', (socket, own) => void socket.write(own + EVIL)],
    ['half of it at once', (socket, own) => void socket.write(`${own}HTTP/1.1 2`)],
    ['a byte', (socket, own) => void socket.write(`${own}x`)],
    ['behind chunks', (socket) => void socket.write(`${CHUNKED}2\r\nok\r\n0\r\n\r\n${EVIL}`)],
    ['behind 204', (socket) => void socket.write(`HTTP/1.1 204 X\r\n\r\n${EVIL}`)],
    ['behind as much as is read at once', (socket, own) => void socket.write(own + LARGE + EVIL)],
  ];
  type Answering = (socket: Socket, own: string) => void;
  test.each(rows)('%s', async (what, say) => {
    const isLarge = what.startsWith('behind as much');
    const stage = await setStage({
      origin: ({ target }, socket) => {
        const own = isLarge ? answer(200, '', 'X: 0').replace(': 0', `: ${LARGE.length}`) : '';
        say(socket, own === '' ? answer(200, target) : own);
        return null;
      },
    });
    const parsed = countParsed(stage.gateway.port);
    // Over one connection and pipelined behind a running one, and over others.
    const clients = await Promise.all([1, 2, 3].map(() => openClient(stage.gateway.port)));
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        clients.map(async (client, index) => {
          const target = `/${round}-${index}`;
          const text = await client.ask(humanGet(target));
          if (text.startsWith('HTTP/1.1 200')) expectOwn(text, target);
        }),
      );
    }
    expect(clients.map((client) => client.text()).join('')).not.toContain('X-Evil');
    expect(parsed()).toBe(0);
  });

  function expectOwn(text: string, target: string): void {
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    expect([target, LARGE, '2\r\nok\r\n0\r\n\r\n']).toContain(body);
  }
});

test('what an origin says unasked ends the connection, and is nobody’s answer', async () => {
  let last: Socket | null = null;
  const stage = await setStage({
    origin: ({ target }, socket) => {
      last = socket;
      return answer(200, target);
    },
  });
  const client = await openClient(stage.gateway.port);
  for (const said of [EVIL, 'x', '\r\n', 'HTTP/1.1 408 Timeout\r\n\r\n']) {
    expect(await client.ask(humanGet('/a'))).toMatch(/\/a$/);
    (last as Socket | null)?.write(said);
    await waitUntil('it is closed', () => stage.origin.openConnections() === 0);
  }
  expect(client.text()).not.toContain('X-Evil');
});

test('what was said behind an answer is not the next one’s that waits for it', async () => {
  const held: Socket[] = [];
  const script: RawOriginOptions = {
    answer: ({ target }, socket) => {
      held.push(socket);
      return target === '/first' ? null : answer(200, target);
    },
  };
  const stage = await setStage({ origin: script });
  const client = await openClient(stage.gateway.port);
  client.send(humanGet('/first'));
  await waitUntil('the first is asked for', () => held.length === 1);
  client.send(humanGet('/second'));
  client.send(humanGet('/third'));
  // So that they are there before the answer is.
  await (await openClient(stage.gateway.port)).ask(humanGet('/other'));
  held[0]?.write(answer(200, '/first') + EVIL);
  const texts = await client.answers(3);
  expect(texts.map((text) => text.slice(text.lastIndexOf('\n') + 1))).toEqual([
    '/first',
    '/second',
    '/third',
  ]);
  expect(client.text()).not.toContain('X-Evil');
});

describe('kept connections', () => {
  test('that the origin closes while they are idle fail nobody', async () => {
    const sockets = new Set<Socket>();
    const stage = await setStage({
      origin: ({ target }, socket) => {
        sockets.add(socket);
        return answer(200, target);
      },
    });
    const client = await openClient(stage.gateway.port);
    for (let round = 0; round < 200; round += 1) {
      expect(await client.ask(humanGet(`/${round}`))).toMatch(/^HTTP\/1\.1 200 /);
      // Some with the next request on its way, some before.
      if (round % 3 === 0) for (const socket of sockets) socket.end();
      if (round % 3 === 1) for (const socket of sockets) socket.resetAndDestroy();
      sockets.clear();
    }
  });

  test('that close with the answer they have given', async () => {
    const stage = await setStage({
      origin: ({ target }, socket) => {
        socket.end(answer(200, target));
        return null;
      },
    });
    const client = await openClient(stage.gateway.port);
    for (let round = 0; round < 50; round += 1) {
      expect(await client.ask(humanGet(`/${round}`))).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  test('are used again, and no request twice at a time', async () => {
    const stage = await setStage({ origin: ({ target }) => answer(200, target) });
    const client = await openClient(stage.gateway.port);
    for (let round = 0; round < 30; round += 1) await client.ask(humanGet(`/${round}`));
    expect(stage.origin.openConnections()).toBe(1);
    const clients = await Promise.all(
      Array.from({ length: 30 }, () => openClient(stage.gateway.port)),
    );
    const bodies = await Promise.all(clients.map((one, i) => one.ask(humanGet(`/of-${i}`))));
    bodies.forEach((text, i) => expect(text.endsWith(`\r\n\r\n/of-${i}`)).toBe(true));
  });
});
