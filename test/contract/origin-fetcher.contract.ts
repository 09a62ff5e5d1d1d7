// What every fetcher of answers that may be kept has to hold: the whole answer as the origin gave
// it, nothing that is not in the key in what is sent, and a value for whatever may go wrong.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type {
  Information,
  OriginAnswer,
  OriginFetcher,
  PassJob,
} from '../../src/pipeline/origin-ports.ts';
import type { HeaderList } from '../../src/pipeline/ports.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { hostPolicy } from '../helpers/policies.ts';
import { type Answer, type RawOrigin, startRawOrigin } from '../helpers/raw-origin.ts';

const OK = 'HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n';

export function testOriginFetcher(create: () => OriginFetcher): void {
  const start = async (answer: Answer): Promise<RawOrigin> => {
    const origin = await startRawOrigin({ answer });
    onTestFinished(origin.close);
    return origin;
  };
  const open = (): OriginFetcher => {
    const fetcher = create();
    onTestFinished(fetcher.close);
    return fetcher;
  };
  const jobFor = (urls: readonly string[], more: Partial<PassJob> = {}): PassJob => ({
    host: hostPolicy({ scheme: 'https', origins: urls.map((url) => ({ url })) }),
    url: 'https://site.test/a.js?b=1',
    headers: [],
    peer: { address: '203.0.113.7', isTrusted: false },
    httpVersion: '1.1',
    userAgent: null,
    timeoutMs: 10_000,
    onInformation: () => undefined,
    ...more,
  });
  const pass = async (answer: Answer, more: Partial<PassJob> = {}): Promise<OriginAnswer> => {
    const origin = await start(answer);
    const result = await open().pass(jobFor([origin.url], more));
    if (result.outcome === 'failed') throw new Error(`${result.reason}: ${result.detail}`);
    return result.answer;
  };
  const failure = async (answer: Answer, more: Partial<PassJob> = {}): Promise<string> => {
    const origin = await start(answer);
    const result = await open().pass(jobFor([origin.url], more));
    return result.outcome === 'failed' ? result.reason : `answer ${result.answer.status}`;
  };

  test('the answer as it came', async () => {
    const answer = await pass(() => `${OK}Content-Encoding: br\r\nX-A: 1\r\nX-A: 2\r\n\r\nok`);
    expect([answer.status, answer.reason, answer.isDelimited]).toEqual([200, 'Fine', true]);
    expect(answer.headers).toEqual([
      ['Content-Length', '2'],
      ['Content-Encoding', 'br'],
      ['X-A', '1'],
      ['X-A', '2'],
    ]);
    expect(await textOf(answer)).toBe('ok');
    // It came with its head.
    expect(Buffer.isBuffer(answer.body)).toBe(true);
  });

  test('asked for by the normalized URL, for its public host', async () => {
    const origin = await start(() => `${OK}\r\nok`);
    const headers: HeaderList = [
      ['Host', 'other.test'],
      ['X-Forwarded-Host', 'evil.test'],
      ['X-Forwarded-For', '198.51.100.1'],
      ['Connection', 'X-Hop'],
      ['X-Hop', '1'],
      ['X-Own', '2'],
    ];
    await open().pass(jobFor([origin.url], { headers }));
    const [request] = origin.requests;
    expect(`${request?.method} ${request?.target}`).toBe('GET /a.js?b=1');
    const fields = Object.fromEntries(request?.fields ?? []);
    expect(fields).toMatchObject({
      host: 'site.test',
      'x-forwarded-host': 'site.test',
      'x-forwarded-for': '203.0.113.7',
      'x-own': '2',
    });
    expect(fields).not.toHaveProperty('x-hop');
  });

  test('no field of the connection comes along, but nothing that decides about keeping is lost', async () => {
    const answer = await pass(
      () => `${OK}Connection: X-Hop, Vary, Age\r\nX-Hop: 1\r\nVary: *\r\nAge: 5\r\n\r\nok`,
    );
    expect(answer.headers).toEqual([
      ['Content-Length', '2'],
      ['Vary', '*'],
      ['Age', '5'],
    ]);
  });

  test('no inner address comes out', async () => {
    const answer = await pass(({ fields }) => {
      const host = fields.find(([name]) => name === 'host')?.[1] ?? '';
      return `HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: https://${host}/b\r\n\r\n`;
    });
    expect(answer.headers).toContainEqual(['Location', 'https://site.test/b']);
  });

  test('interim answers, trailers, and odd statuses', async () => {
    const seen: Information[] = [];
    const answer = await pass(
      () =>
        'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 799 Odd\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n',
      { onInformation: (information) => void seen.push(information) },
    );
    expect(seen).toEqual([{ statusCode: 103, headers: [['Link', '</a>']] }]);
    expect([answer.status, answer.reason, await textOf(answer)]).toEqual([799, 'Odd', 'ok']);
    expect(answer.trailers().map(([name, value]) => `${name.toLowerCase()}: ${value}`)).toEqual([
      'x-sum: 1',
    ]);
  });

  test('a body that goes on coming is a stream, which does not run ahead of its reader', async () => {
    const rest = 'x'.repeat(8 * 1024 * 1024);
    let held: Socket | null = null;
    const answer = await pass((_request, socket) => {
      held = socket;
      return `HTTP/1.1 200 OK\r\nContent-Length: ${2 + rest.length}\r\n\r\nok`;
    });
    const { body } = answer;
    if (Buffer.isBuffer(body)) throw new Error('it has not ended');
    await once(body, 'readable');
    let isDrained = false;
    (held as Socket | null)?.write(rest, 'latin1', () => {
      isDrained = true;
    });
    await expect.poll(() => body.readableLength > 2, { timeout: 10_000 }).toBe(true);
    expect([body.readableLength < rest.length / 4, isDrained]).toEqual([true, false]);
    expect((await textOf(answer)).length).toBe(2 + rest.length);
    await expect.poll(() => isDrained, { timeout: 10_000 }).toBe(true);
  });

  test('a body that ends with the connection says so', async () => {
    const answer = await pass((_request, socket) => {
      socket.end('HTTP/1.1 200 OK\r\n\r\nok');
      return null;
    });
    expect(answer.isDelimited).toBe(false);
    expect(await textOf(answer)).toBe('ok');
  });

  test('a body that is cut is an error of the body', async () => {
    const answer = await pass((_request, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
      return null;
    });
    await expect(textOf(answer)).rejects.toThrow();
  });

  test.each<[string, string, string]>([
    [
      'a coding that frames nothing',
      `${OK}Transfer-Encoding: gzip\r\n\r\nok`,
      'http_protocol_error',
    ],
    ['a 304 to no condition', 'HTTP/1.1 304 Not Modified\r\n\r\n', 'http_protocol_error'],
    ['no HTTP', 'hello\r\n\r\n', 'http_protocol_error'],
  ])('%s is no answer', async (_name, bytes, expected) => {
    expect(await failure(() => bytes)).toBe(expected);
  });

  test('a 304 to a condition is one', async () => {
    const headers: HeaderList = [['If-None-Match', '"a"']];
    const answer = await pass(() => 'HTTP/1.1 304 Not Modified\r\n\r\n', { headers });
    expect(answer.status).toBe(304);
  });

  test('too slow, and not there', async () => {
    expect(await failure(() => null, { timeoutMs: 50 })).toBe('http_response_timeout');
    const result = await open().pass(jobFor([`http://127.0.0.1:${await findFreePort()}`]));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'connection_refused' });
  });

  test('another origin is asked when one was never reached', async () => {
    const origin = await start(() => `${OK}\r\nok`);
    const dead = `http://127.0.0.1:${await findFreePort()}`;
    const fetcher = open();
    for (let i = 0; i < 4; i += 1) {
      const result = await fetcher.pass(jobFor([dead, origin.url]));
      expect(result.outcome).toBe('answer');
      if (result.outcome === 'answer') await textOf(result.answer);
    }
  });

  test('a kept connection that has died is no failure', async () => {
    const used = new Set<unknown>();
    let died = 0;
    const origin = await start((_request, socket) => {
      if (!used.has(socket)) {
        used.add(socket);
        return `${OK}\r\nok`;
      }
      died += 1;
      socket.destroy();
      return null;
    });
    const fetcher = open();
    for (let i = 0; i < 20 && died === 0; i += 1) {
      const result = await fetcher.pass(jobFor([origin.url]));
      expect(result.outcome).toBe('answer');
      if (result.outcome === 'answer') await textOf(result.answer);
    }
    expect(died).toBe(1);
  });

  test('who does not want the rest ends the request', async () => {
    let isClosed = false;
    const answer = await pass((_request, socket) => {
      socket.once('close', () => {
        isClosed = true;
      });
      return 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf';
    });
    if (!Buffer.isBuffer(answer.body)) answer.body.on('error', () => undefined).destroy();
    await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  });
}

async function textOf({ body }: OriginAnswer): Promise<string> {
  return Buffer.isBuffer(body) ? body.toString('latin1') : await text(body);
}
