// What an origin sees of a bypassed request: every method, body and header that may pass, byte for
// byte, and ours in place of those that may not.
import { METHODS } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type BypassGateway,
  type BypassGatewayOptions,
  PSEUDONYM,
  startBypassGateway,
} from '../helpers/bypass-gateway.ts';
import { hasAnswers, type RawReply, sendRaw } from '../helpers/raw-client.ts';
import {
  type RawOrigin,
  type RawRequest,
  startRawOrigin,
  valuesOf,
} from '../helpers/raw-origin.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(
  options: Partial<BypassGatewayOptions> = {},
): Promise<{ origin: RawOrigin; gateway: BypassGateway }> {
  const origin = await startRawOrigin();
  cleanUps.push(origin.close);
  const gateway = await startBypassGateway({ originUrl: origin.url, ...options });
  cleanUps.push(gateway.close);
  return { origin, gateway };
}

/** Sends one request with these lines and gives what the origin saw. */
async function pass(
  lines: readonly string[],
  body = '',
  options: Partial<BypassGatewayOptions> = {},
): Promise<{ request: RawRequest | undefined; reply: RawReply }> {
  const { origin, gateway } = await start(options);
  const [requestLine = '', ...fields] = lines;
  const bytes = [requestLine, 'Host: good.example', ...fields, '', body].join('\r\n');
  const hasHead = (text: string): boolean => text.includes('\r\n\r\n');
  const until = requestLine.startsWith('HEAD ') ? hasHead : hasAnswers(1);
  const reply = await sendRaw(gateway.port, bytes, { until });
  return { request: origin.requests[0], reply };
}

describe('methods', () => {
  const REFUSED = ['CONNECT', 'TRACE', 'PURGE'];
  it.each(METHODS.filter((method) => !REFUSED.includes(method)))(
    '%s passes with its body',
    async (method) => {
      const { request } = await pass([`${method} /m?x=1 HTTP/1.1`, 'Content-Length: 3'], 'abc');
      expect(request?.method).toBe(method);
      expect(request?.target).toBe('/m?x=1');
      expect(request?.body).toBe(method === 'GET' || method === 'HEAD' ? '' : 'abc');
    },
  );

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])(
    '%s without a body has no framing (F7)',
    async (method) => {
      const { request } = await pass([`${method} / HTTP/1.1`]);
      expect(valuesOf(request, 'content-length')).toEqual([]);
      expect(valuesOf(request, 'transfer-encoding')).toEqual([]);
    },
  );

  it('POST without a body says so', async () => {
    const { request } = await pass(['POST / HTTP/1.1']);
    expect(valuesOf(request, 'content-length')).toEqual(['0']);
    expect(valuesOf(request, 'transfer-encoding')).toEqual([]);
  });

  it('OPTIONS * keeps its target', async () => {
    const { request } = await pass(['OPTIONS * HTTP/1.1']);
    expect(request?.target).toBe('*');
  });
});

describe('bodies', () => {
  const BINARY = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('');
  const TYPES = [
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain;charset=',
    'a/b/c; ;;',
    '',
    'x',
  ];

  it.each(TYPES)('Content-Type "%s" does not matter', async (type) => {
    const { request } = await pass(
      ['POST /p HTTP/1.1', `Content-Type: ${type}`, `Content-Length: ${BINARY.length}`],
      BINARY,
    );
    expect(request?.body).toBe(BINARY);
    expect(valuesOf(request, 'content-type')).toEqual([type]);
  });

  it('chunked stays chunked, with its trailers', async () => {
    const { request } = await pass(
      ['POST /p HTTP/1.1', 'Transfer-Encoding: chunked', 'Trailer: X-Sum, Host'],
      '3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 7\r\nHost: evil.example\r\nX-Sum: 8\r\n\r\n',
    );
    expect(request?.body).toBe('abcde');
    expect(valuesOf(request, 'trailer')).toEqual(['X-Sum, Host']);
    expect(request?.trailers).toBe('X-Sum: 7\r\nX-Sum: 8');
  });
});

describe('headers', () => {
  it('keep their order, case and repeats', async () => {
    const { request } = await pass([
      'GET / HTTP/1.1',
      'aCCept: text/html',
      'X-B: 1',
      'X-A: 2',
      'x-b: 3',
      'Accept-Language: de',
      'X-Latin: caf\xe9',
    ]);
    const [, ...lines] = request?.head.split('\r\n') ?? [];
    expect(lines.slice(0, 7)).toEqual([
      'Host: good.example',
      'aCCept: text/html',
      'X-B: 1',
      'X-A: 2',
      'x-b: 3',
      'Accept-Language: de',
      'X-Latin: caf\xe9',
    ]);
  });

  const SPOOFED = [
    'GET / HTTP/1.1',
    'X-Forwarded-For: 203.0.113.9, 198.51.100.7',
    'X-Forwarded-Proto: gopher, http, https',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Port: 99',
    'Forwarded: for=203.0.113.9',
    'X-Real-IP: 203.0.113.9',
    'Via: 1.0 other',
  ];
  const fieldsOf = (request: RawRequest | undefined): Record<string, string[]> => ({
    for: valuesOf(request, 'x-forwarded-for'),
    proto: valuesOf(request, 'x-forwarded-proto'),
    host: valuesOf(request, 'x-forwarded-host'),
    port: valuesOf(request, 'x-forwarded-port'),
    forwarded: valuesOf(request, 'forwarded'),
    realIp: valuesOf(request, 'x-real-ip'),
    via: valuesOf(request, 'via'),
  });

  it('of a stranger about forwarding are replaced (K3, B2)', async () => {
    const { request } = await pass(SPOOFED);
    expect(fieldsOf(request)).toEqual({
      for: ['127.0.0.1'],
      proto: ['https'],
      host: ['good.example'],
      port: [],
      forwarded: [],
      realIp: [],
      via: ['1.0 other', `1.1 ${PSEUDONYM}`],
    });
  });

  it('of a trusted proxy are continued (E9)', async () => {
    const { request } = await pass(SPOOFED, '', { trusted: ['127.0.0.1'] });
    expect(fieldsOf(request)).toEqual({
      for: ['203.0.113.9, 198.51.100.7, 127.0.0.1'],
      proto: ['http'],
      host: ['good.example'],
      port: ['99'],
      forwarded: [],
      realIp: ['203.0.113.9'],
      via: ['1.0 other', `1.1 ${PSEUDONYM}`],
    });
  });

  it('Host and User-Agent are the configured ones', async () => {
    const { request } = await pass(['GET / HTTP/1.1', 'User-Agent: curl'], '', {
      target: { hostHeader: 'inner.example:8080', userAgent: 'gateway' },
    });
    expect(valuesOf(request, 'host')).toEqual(['inner.example:8080']);
    expect(valuesOf(request, 'x-forwarded-host')).toEqual(['good.example']);
    expect(valuesOf(request, 'user-agent')).toEqual(['gateway']);
  });

  it('a request that has been here before is a loop: 508', async () => {
    const { request, reply } = await pass(['GET / HTTP/1.1', `Via: 1.1 a, 1.1 ${PSEUDONYM} (x)`]);
    expect(request).toBeUndefined();
    expect(reply.text).toMatch(/^HTTP\/1\.1 508 /);
    expect(reply.text).toContain('error=proxy_loop_detected');
  });

  it('Via of others, however often, is no loop', async () => {
    const via = Array.from({ length: 50 }, () => '1.1 edge-gateway').join(', ');
    const { request } = await pass(['GET / HTTP/1.1', `Via: ${via}`]);
    expect(request).toBeDefined();
  });
});
