// Group F of the public reports: methods, and how requests and answers without content are framed.
import { describe, expect, test } from 'vitest';
import { hasAnswers, sendRaw, splitAnswers, statusesOf } from '../helpers/raw-client.ts';
import { valuesOf } from '../helpers/raw-origin.ts';
import { answer, askedFor, BOT, HUMAN, page, setStage } from './stage.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(300)}`;
const VARYING = /^(age|date|x-cache-age|x-request-id|cache-status): .*$/gim;

describe('F2: HEAD', () => {
  test.each(['', 'Accept-Encoding: br', 'If-None-Match: *'])(
    'of a stored page has the headers of GET and no body (%s)',
    async (line) => {
      const site = await setStage({ engine: 'service', origin: () => page(HTML) });
      await site.ask('/page');
      const headers = line === '' ? [] : [line];
      const got = await site.ask('/page', { headers });
      const head = await site.ask('/page', { method: 'HEAD', headers });
      expect(head.head.replace(VARYING, '')).toBe(got.head.replace(VARYING, ''));
      expect(head.body).toBe('');
      expect([head.header('X-Render-Cache'), site.renderer.requests.length]).toEqual(['hit', 1]);
    },
  );

  test('of an unknown page is the origin’s answer: nothing is rendered, no length made up', async () => {
    const site = await setStage({
      engine: 'service',
      origin: ({ method }) =>
        method === 'HEAD' ? page(HTML).slice(0, -HTML.length) : page('never asked for'),
    });
    const head = await site.ask('/page', { method: 'HEAD' });
    expect([head.status, head.header('Content-Length')]).toEqual([200, String(HTML.length)]);
    expect(head.header('Cache-Status')).toContain('fwd=uri-miss');
    expect([site.renderer.requests, askedFor(site.origin)]).toEqual([[], ['HEAD /page']]);
  });
});

test('F3: HEAD stores nothing, so that GET is never blank', async () => {
  const site = await setStage({
    origin: ({ method }) => (method === 'HEAD' ? page(HTML).slice(0, -HTML.length) : page(HTML)),
  });
  await site.ask('/page', { method: 'HEAD' });
  const first = await site.ask('/page');
  const second = await site.ask('/page');
  expect([first.header('X-Render-Cache'), first.body]).toEqual(['new', HTML]);
  expect([second.header('X-Render-Cache'), second.body]).toEqual(['hit', HTML]);
});

describe('F4: a crawler’s', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    '%s is proxied untouched',
    async (method) => {
      const site = await setStage({
        engine: 'service',
        origin: (request) => answer(201, request.body, 'X-Method: 1'),
      });
      await site.ask('/form');
      const question = { method, headers: ['Content-Length: 5'], body: 'a=1&b' };
      const reply = await site.ask('/form?utm_source=1', question);
      expect([reply.status, reply.body, reply.header('X-Method')]).toEqual([201, 'a=1&b', '1']);
      expect(askedFor(site.origin)).toEqual([`${method} /form?utm_source=1`]);
      expect((await site.ask('/form')).header('X-Render-Cache')).toBe('hit');
      expect(site.renderer.requests.length).toBe(1);
    },
  );
});

describe('F6: lengths that lie', () => {
  test('a body of GET is dropped, and the next request is not made of it', async () => {
    const site = await setStage();
    const get = (target: string, more: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: site.test\r\nUser-Agent: Chrome\r\n${more}\r\n`;
    const bytes = `${get('/a', 'Content-Length: 5\r\n')}hello${get('/b', '')}`;
    const { text } = await sendRaw(site.gateway.port, bytes, {
      until: hasAnswers(2),
      timeoutMs: 3_000,
    });
    expect(splitAnswers(text)[0]?.status).toBe(200);
    expect(site.origin.requests.every(({ body }) => body === '')).toBe(true);
    expect(askedFor(site.origin).filter((line) => !/^GET \/[ab]$/.test(line))).toEqual([]);
  });

  test('an upload that ends early is no request, and holds nothing up', async () => {
    const site = await setStage();
    const bytes = 'POST /a HTTP/1.1\r\nHost: site.test\r\nContent-Length: 10\r\n\r\nhello';
    const { text } = await sendRaw(site.gateway.port, bytes, {
      onConnected: (socket) => void socket.end(),
      timeoutMs: 5_000,
    });
    expect(statusesOf(text).filter((status) => status === 200)).toEqual([]);
    expect(site.origin.requests).toEqual([]);
    expect((await site.ask('/next', { userAgent: HUMAN })).status).toBe(200);
  });
});

test('F7: DELETE without a body has no framing upstream', async () => {
  const site = await setStage();
  await site.ask('/x', { method: 'DELETE', userAgent: HUMAN });
  const [request] = site.origin.requests;
  expect(request?.method).toBe('DELETE');
  expect(valuesOf(request, 'transfer-encoding')).toEqual([]);
});

describe('F8: Expect: 100-continue', () => {
  const upload = (length: number): string =>
    `POST /up HTTP/1.1\r\nHost: site.test\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

  test('an early refusal of the origin reaches the client before the body', async () => {
    const site = await setStage({
      origin: {
        answer: () => null,
        onHead: (_head, socket) => socket.end(answer(413, 'too big', 'Connection: close')),
      },
    });
    const { text } = await sendRaw(site.gateway.port, upload(50_000_000), { timeoutMs: 5_000 });
    expect(statusesOf(text).at(-1)).toBe(413);
  });

  test('a client that waits for the word gets it, and its body arrives', async () => {
    const site = await setStage();
    const { text } = await sendRaw(site.gateway.port, upload(5), {
      onConnected: (socket) => {
        socket.once('data', () => void socket.write('hello'));
      },
      until: hasAnswers(1),
      timeoutMs: 5_000,
    });
    expect(statusesOf(text)).toEqual([100, 200]);
    expect(site.origin.requests[0]?.body).toBe('hello');
  });
});

describe('F10: statuses without content', () => {
  const rows = [
    [204, ''],
    [205, ''],
    [304, 'If-None-Match: "x"'],
  ] as const;
  test.each(rows)('%s has no body, and nobody complains', async (status, line) => {
    const site = await setStage({
      origin: () => `HTTP/1.1 ${status} Scripted\r\nETag: "x"\r\nConnection: close\r\n\r\n`,
    });
    const headers = line === '' ? [] : [line];
    for (const userAgent of [HUMAN, status === 304 ? HUMAN : BOT]) {
      const reply = await site.ask('/empty', { userAgent, headers, timeoutMs: 3_000 });
      expect([reply.status, reply.body]).toEqual([status, '']);
    }
    expect(site.gateway.log.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});
