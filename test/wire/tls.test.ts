// The TLS listener: HTTP/2 and HTTP/1.1 through the same door and the same bypass.
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { type BypassGateway, startBypassGateway } from '../helpers/bypass-gateway.ts';
import {
  type RawOrigin,
  type RawOriginOptions,
  startRawOrigin,
  valuesOf,
} from '../helpers/raw-origin.ts';
import { makeCertificate } from '../helpers/self-signed.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const CERTIFICATE = makeCertificate('good.example');
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(script: RawOriginOptions = {}): Promise<{
  origin: RawOrigin;
  gateway: BypassGateway;
  session: ClientHttp2Session;
}> {
  const origin = await startRawOrigin(script);
  cleanUps.push(origin.close);
  const gateway = await startBypassGateway({ originUrl: origin.url, certificate: CERTIFICATE });
  cleanUps.push(gateway.close);
  const session = connect(`https://127.0.0.1:${gateway.port}`, {
    ca: CERTIFICATE.cert,
    servername: 'good.example',
  });
  cleanUps.push(() => session.destroy());
  return { origin, gateway, session };
}

interface Reply {
  readonly headers: Record<string, string | string[] | undefined>;
  readonly interim: readonly number[];
  readonly trailers: Record<string, unknown>;
  readonly body: string;
}

function send(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  return session.request(
    { ':authority': 'good.example', ':path': '/g', ...headers },
    { endStream: false },
  );
}

async function replyOf(stream: ClientHttp2Stream): Promise<Reply> {
  const interim: number[] = [];
  const trailers: Record<string, unknown> = {};
  stream.on('headers', (headers) => interim.push(Number(headers[':status'])));
  stream.on('trailers', (headers) => Object.assign(trailers, headers));
  const [headers] = await once(stream, 'response');
  let body = '';
  for await (const chunk of stream) body += chunk;
  return { headers, interim, trailers, body };
}

describe('HTTP/2', () => {
  it('carries interim answers, repeated fields and trailers; hop-by-hop fields are gone (E4)', async () => {
    const { session, origin } = await start({
      answer: () =>
        'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n' +
        'HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n' +
        'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n' +
        '2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n',
    });
    const stream = send(session, { cookie: ['a=1', 'b=2'] });
    stream.end();
    const reply = await replyOf(stream);
    expect(reply.headers).toMatchObject({ ':status': 200, 'set-cookie': ['a=1', 'b=2'] });
    expect(reply.headers).not.toHaveProperty('x-hop');
    expect(reply.headers).not.toHaveProperty('connection');
    expect(reply.interim).toEqual([103]);
    expect(reply.trailers).toMatchObject({ 'x-sum': '7' });
    expect(reply.body).toBe('ok');
    const [request] = origin.requests;
    expect(valuesOf(request, 'host')).toEqual(['good.example']);
    expect(valuesOf(request, 'cookie')).toEqual(['a=1; b=2']);
    expect(valuesOf(request, 'via')).toEqual(['2 edge-gateway-test']);
    expect(request?.head).not.toMatch(/^:/m);
  });

  it.each([
    ['without a length', {}],
    ['with a length', { 'content-length': '5' }],
  ])('passes a body %s', async (_what, headers) => {
    const { session, origin } = await start();
    const stream = send(session, { ':method': 'POST', ...headers });
    stream.end('hello');
    expect((await replyOf(stream)).headers[':status']).toBe(200);
    expect(origin.requests[0]?.body).toBe('hello');
  });

  it.each([
    ['a malformed authority', { ':authority': 'good.example@evil.example' }, 400],
    ['an authority and another Host', { host: 'evil.example' }, 400],
    ['a long target', { ':path': `/${'a'.repeat(9_000)}` }, 414],
    [
      'too many fields',
      Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1'])),
      431,
    ],
    ['TRACE', { ':method': 'TRACE' }, 405],
    ['a method nobody knows', { ':method': 'FOO' }, 501],
    ['a method in lower case', { ':method': 'get' }, 501],
    ['__proto__', { ':method': '__proto__' }, 501],
    ['a very long method', { ':method': 'A'.repeat(5_000) }, 501],
    ['%00', { ':path': '/a%00' }, 400],
    ['an unknown host', { ':authority': 'other.example' }, 421],
  ])('%s is refused', async (_what, headers, status) => {
    const { session, origin } = await start();
    const stream = send(session, headers);
    stream.end();
    expect((await replyOf(stream)).headers[':status']).toBe(status);
    expect(origin.requests).toEqual([]);
  });

  it('a cancelled stream aborts upstream, a broken answer resets the stream', async () => {
    const { session, origin } = await start({
      answer: ({ target }, socket) => {
        if (target === '/hang') return null;
        setImmediate(() => socket.destroy());
        return 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok';
      },
    });
    const hanging = send(session, { ':path': '/hang' });
    hanging.end();
    await waitUntil('the request', () => origin.requests.length === 1);
    hanging.close(8);
    await waitUntil('upstream to be aborted', () => origin.openConnections() === 0);
    const broken = send(session, { ':path': '/broken' });
    broken.end();
    await expect(replyOf(broken)).rejects.toThrow();
  });
});

it('HTTP/1.1 over TLS goes through the same checks', async () => {
  const { gateway, origin } = await start();
  const ask = async (bytes: string): Promise<string> => {
    const socket = connectTls({
      port: gateway.port,
      host: '127.0.0.1',
      servername: 'good.example',
      ca: CERTIFICATE.cert,
      ALPNProtocols: ['http/1.1'],
    });
    socket.write(bytes, 'latin1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await once(socket, 'close');
    return text;
  };
  const lines = 'Host: good.example\r\nConnection: close\r\n\r\n';
  expect(await ask(`GET /g HTTP/1.1\r\n${lines}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask(`GET  /g HTTP/1.1\r\n${lines}`)).toMatch(/^HTTP\/1\.1 400 /);
  expect(await ask(`GET /g HTTP/1.1\r\nHost: a\r\n${lines}`)).toMatch(/^HTTP\/1\.1 400 /);
  const upgrade = lines.replace('close', 'close, Upgrade\r\nUpgrade: h2c');
  expect(await ask(`GET /up HTTP/1.1\r\n${upgrade}`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(origin.requests.map(({ target }) => target)).toEqual(['/g', '/up']);
});
