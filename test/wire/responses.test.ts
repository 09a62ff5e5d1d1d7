// What a client sees of a bypassed answer: everything end-to-end as the origin wrote it, the framing
// its protocol version can read, and nothing held back.
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BypassGatewayOptions,
  PSEUDONYM,
  startBypassGateway,
} from '../helpers/bypass-gateway.ts';
import {
  hasAnswers,
  type RawOptions,
  type RawReply,
  sendRaw,
  splitAnswers,
} from '../helpers/raw-client.ts';
import { type RawOriginOptions, startRawOrigin } from '../helpers/raw-origin.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function ask(
  request: string,
  origin: string | RawOriginOptions,
  options: { gateway?: Partial<BypassGatewayOptions>; client?: RawOptions } = {},
): Promise<RawReply & { readonly originUrl: string }> {
  const script = typeof origin === 'string' ? { answer: () => origin } : origin;
  const server = await startRawOrigin(script);
  cleanUps.push(server.close);
  const gateway = await startBypassGateway({ originUrl: server.url, ...options.gateway });
  cleanUps.push(gateway.close);
  const reply = await sendRaw(gateway.port, request, options.client ?? { until: hasAnswers(1) });
  return { ...reply, originUrl: server.url };
}

const GET = 'GET /g HTTP/1.1\r\nHost: good.example\r\n\r\n';
const HEAD = GET.replace('GET', 'HEAD');
const GET_1_0 = GET.replace('1.1', '1.0');

describe('heads', () => {
  it('keep reason, order, case, repeats and bytes; ours come last', async () => {
    const lines = [
      'HTTP/1.1 299 Very Odd',
      'set-COOKIE: a=1',
      'Link: <a>',
      'Set-Cookie: b=2, c',
      'Link: <b>',
      'WWW-Authenticate: Basic',
      'WWW-Authenticate: Digest',
      'X-Latin: caf\xe9',
      'Content-Length: 2',
      'Date: Mon, 01 Jan 2029 00:00:00 GMT',
    ];
    const { text } = await ask(GET, `${lines.join('\r\n')}\r\n\r\nok`);
    expect(splitAnswers(text)[0]?.head.split('\r\n').slice(0, 12)).toEqual([
      ...lines,
      `Via: 1.1 ${PSEUDONYM}`,
      'X-Request-ID: test-id',
    ]);
  });

  it('our fields replace the origin’s of the same name, Cache-Status is continued', async () => {
    const { text } = await ask(
      GET,
      'HTTP/1.1 200 OK\r\nx-source: origin\r\nCache-Status: inner; hit\r\nContent-Length: 0\r\n\r\n',
      {
        gateway: {
          target: {
            extraResponseHeaders: [
              ['X-Source', 'bypass'],
              ['Cache-Status', 'edge-gateway; fwd=bypass'],
            ],
          },
        },
      },
    );
    expect(
      [...text.matchAll(/^(?:x-source|cache-status): (.*)\r$/gim)].map(([, value]) => value),
    ).toEqual(['inner; hit', 'bypass', 'edge-gateway; fwd=bypass']);
  });

  it.each([
    ['{origin}/login?x', 'https://good.example/login?x'],
    ['http://inner.example/a', 'https://good.example/a'],
    ['HTTP://INNER.example:80/a', 'https://good.example/a'],
    ['https://inner.example/a', 'https://good.example/a'],
    ['//inner.example/a', 'https://good.example/a'],
    ['http://127.0.0.1.evil.example/a', 'http://127.0.0.1.evil.example/a'],
    ['https://elsewhere.example/', 'https://elsewhere.example/'],
    ['/relative', '/relative'],
    ['../x', '../x'],
  ])('Location %s becomes %s (A9, B6, B8)', async (sent, expected) => {
    const reply = await ask(
      GET,
      {
        answer: (_request, socket) =>
          `HTTP/1.1 302 Found\r\nLocation: ${sent.replace('{origin}', `http://127.0.0.1:${socket.localPort}`)}\r\nContent-Length: 0\r\n\r\n`,
      },
      { gateway: { target: { hostHeader: 'inner.example' } } },
    );
    expect(/\r\nLocation: (.*)\r\n/.exec(reply.text)?.[1]).toBe(expected);
  });

  it('a 304 somebody asked for passes', async () => {
    const conditional = GET.replace('\r\n\r\n', '\r\nIf-None-Match: "x"\r\n\r\n');
    const { text } = await ask(conditional, 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 304 Not Modified\r\nETag: "x"\r\n/);
    expect(text).not.toMatch(/transfer-encoding|content-length/i);
  });
});

describe('interim answers', () => {
  it('102 and 103 pass, hop-by-hop fields do not, 100 is ours alone', async () => {
    const { text } = await ask(
      GET,
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n' +
        'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nLink: <b>\r\nConnection: X\r\nX: 1\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    );
    expect(text).toMatch(
      /^HTTP\/1\.1 102 Processing\r\n\r\nHTTP\/1\.1 103 Early Hints\r\nLink: <a>\r\nLink: <b>\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
    );
  });

  it('never reach HTTP/1.0', async () => {
    const { text } = await ask(
      GET_1_0,
      'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});

describe('bodies', () => {
  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';

  it('HEAD has the head of GET and no body (F2)', async () => {
    const { text, end } = await ask(HEAD, 'HTTP/1.1 200 OK\r\nContent-Length: 4711\r\n\r\n', {
      client: { until: (seen) => seen.includes('\r\n\r\n') },
    });
    expect(text).toContain('\r\nContent-Length: 4711\r\n');
    expect(text).toMatch(/\r\n\r\n$/);
    expect(end).toBe('open');
  });

  it('an HTTP/1.0 client gets no chunks but a close (D11)', async () => {
    const { text, end } = await ask(GET_1_0, CHUNKED, { client: {} });
    expect(text).not.toMatch(/transfer-encoding/i);
    expect(text).toMatch(/\r\n\r\nok$/);
    expect(end).toBe('closed');
  });

  it('an HTTP/1.0 client gets the length the origin gave', async () => {
    const { text } = await ask(GET_1_0, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', {
      client: {},
    });
    expect(text).toMatch(/\r\nContent-Length: 2\r\n[^]*\r\n\r\nok$/);
  });

  it('trailers pass, except those that would change the message', async () => {
    const { text } = await ask(
      GET,
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nConnection: close\r\nX-Sum: 2\r\n\r\n',
    );
    expect(text).toContain('\r\nTrailer: X-Sum\r\n');
    expect(text).toMatch(/2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n$/);
  });

  it('an event stream is passed on piece by piece, its head before the first', async () => {
    let stream: Socket | null = null;
    const reply = await ask(
      GET,
      {
        answer: (_request, socket) => {
          stream = socket;
          return 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
        },
      },
      {
        client: {
          until: (text) => {
            // Each piece is only sent once the client has the one before.
            if (text.endsWith('\r\n\r\n') && !text.includes('data'))
              stream?.write('9\r\ndata: 1\n\n\r\n');
            if (text.endsWith('data: 1\n\n\r\n')) stream?.write('9\r\ndata: 2\n\n\r\n0\r\n\r\n');
            return text.endsWith('0\r\n\r\n');
          },
        },
      },
    );
    expect(splitAnswers(reply.text)[0]?.body).toBe(
      '9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n',
    );
  });

  it('a stream outlives the first-byte timeout', async () => {
    const { text } = await ask(
      GET,
      {
        answer: (_request, socket) => {
          setTimeout(() => socket.write('2\r\nok\r\n0\r\n\r\n'), 400);
          return 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
        },
      },
      { gateway: { target: { timeoutMs: 100 } } },
    );
    expect(splitAnswers(text)[0]?.body).toBe('2\r\nok\r\n0\r\n\r\n');
  });
});

it('a pipeline is handled one by one, in order', async () => {
  let running = 0;
  const { text } = await ask(
    ['/1', '/2', '/3'].map((target) => GET.replace('/g', target)).join(''),
    {
      answer: ({ target }, socket) => {
        running += 1;
        expect(running).toBe(1);
        setImmediate(() => {
          running -= 1;
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${target}`);
        });
        return null;
      },
    },
    { client: { until: hasAnswers(3) } },
  );
  expect(splitAnswers(text).map(({ body }) => body)).toEqual(['/1', '/2', '/3']);
});
