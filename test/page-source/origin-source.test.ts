// The page source `origin` against origins made of raw bytes: the contract, the request it
// writes, and the R rows of the attack table.

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstHeader, headerValues } from '../../src/core/http/header-list.ts';
import type { PageSource } from '../../src/pipeline/ports.ts';
import { dimension } from '../helpers/policies.ts';
import { createSource } from './origin-stage.ts';
import { noAbort, pageJob, pageOf, wordOf } from './page-jobs.ts';
import { describePageSource, PAGE_BYTES_MAX } from './page-source.contract.ts';
import { plainAnswer, type ScriptedOrigin, startScriptedOrigin } from './scripted-origin.ts';

describePageSource('origin', async () => {
  const origin = await startScriptedOrigin();
  const write = (bytes: string): void =>
    origin.respond(({ socket }) => socket.write(bytes, 'latin1'));
  return {
    source: createSource(),
    job: ({ headers = [], timeoutMs = 10_000 } = {}) =>
      pageJob([origin.url], { headers, renderChanges: { timeoutMs } }),
    servePage: ({ status, headers, html }) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      write(plainAnswer(Buffer.from(html).toString('latin1'), `${status} X`, lines));
    },
    serveRedirect: (status, location) =>
      write(plainAnswer('', `${status} X`, `Location: ${location}\r\n`)),
    serveHuge: (bytes) => write(plainAnswer('a'.repeat(bytes))),
    serve: (trouble) =>
      origin.respond(({ socket }) => {
        if (trouble === 'reset') socket.resetAndDestroy();
        if (trouble === 'cut') socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nfour');
      }),
    received: () => origin.heads.join(''),
    requestCount: () => origin.heads.length,
    stopServer: origin.close,
  };
});

describe('page source origin', () => {
  let origin: ScriptedOrigin;
  let source: PageSource;
  beforeEach(async () => {
    origin = await startScriptedOrigin();
    source = createSource();
  });
  afterEach(async () => {
    await source.close();
    await origin.close();
  });
  const get = (job = pageJob([origin.url])) => source.get(job, noAbort());

  it('writes its request anew', async () => {
    const job = pageJob([origin.url], {
      url: 'https://shop.site.test/a%2Fb//c?q=a%26b%23c%2Bd+e&k&e=',
      dimension: dimension({ name: 'mobile', renderUserAgent: 'Renderer/1', locale: 'de-DE' }),
      headers: [
        ['Accept-Language', 'fr'],
        ['X-Country', 'de'],
      ],
    });
    pageOf(await get(job));
    expect(origin.heads).toEqual([
      'GET /a%2Fb//c?q=a%26b%23c%2Bd+e&k&e= HTTP/1.1\r\n' +
        'host: shop.site.test\r\n' +
        'connection: keep-alive\r\n' +
        'User-Agent: Renderer/1\r\n' +
        'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n' +
        'Accept-Encoding: gzip, br\r\n' +
        'X-Forwarded-Proto: https\r\n' +
        'X-Forwarded-Host: shop.site.test\r\n' +
        'Via: 1.1 edge-gateway-test1\r\n' +
        'X-Country: de\r\n' +
        'Accept-Language: de-DE\r\n\r\n',
    ]);
  });

  it('sends the configured Host, and gives inner addresses in Location the public one', async () => {
    origin.respond(({ socket, requestNo }) => {
      const inner = [`${origin.url}/x?y`, 'http://inner.test/x?y', 'https://inner.test', '/rel'];
      socket.write(plainAnswer('', '302 Found', `Location: ${inner[requestNo - 1] ?? ''}\r\n`));
    });
    const job = pageJob([origin.url], { hostChanges: { originHostHeader: 'inner.test' } });
    const locations: (string | null)[] = [];
    for (let i = 0; i < 4; i += 1) {
      locations.push(firstHeader(pageOf(await get(job)).headers, 'location'));
    }
    expect(origin.heads[0]).toContain('host: inner.test\r\n');
    expect(origin.heads[0]).toContain('X-Forwarded-Host: site.test\r\n');
    expect(locations).toEqual([
      'https://site.test/x?y',
      'https://site.test/x?y',
      'https://site.test',
      '/rel',
    ]);
  });

  it('percent-encodes a Location that is not ASCII', async () => {
    const location = Buffer.from('/grüße?q=日本 x').toString('latin1');
    origin.respond(({ socket }) =>
      socket.write(plainAnswer('', '301 Moved', `Location: ${location}\r\n`), 'latin1'),
    );
    const page = pageOf(await get());
    expect(firstHeader(page.headers, 'location')).toBe('/gr%C3%BC%C3%9Fe?q=%E6%97%A5%E6%9C%AC%20x');
  });

  it('leaves charset and bytes as they are', async () => {
    const bytes = Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0xfa]).toString('latin1');
    const type = 'Content-Type: text/html; charset=Shift_JIS\r\n';
    origin.respond(({ socket }) => socket.write(plainAnswer(bytes, '200 OK', type), 'latin1'));
    const page = pageOf(await get());
    expect(page.body.toString('latin1')).toBe(bytes);
    expect(firstHeader(page.headers, 'content-type')).toBe('text/html; charset=Shift_JIS');
  });

  describe('codings', () => {
    const html = '<p>the page</p>'.repeat(50);
    it.each([
      ['gzip', gzipSync(html)],
      ['GZIP', gzipSync(html)],
      ['x-gzip', gzipSync(html)],
      ['br', brotliCompressSync(html)],
      ['deflate', deflateSync(html)],
      ['identity', Buffer.from(html)],
      ['br, gzip', gzipSync(brotliCompressSync(html))],
    ])('decodes %s', async (coding, bytes) => {
      origin.respond(({ socket }) => {
        const headers = `Content-Encoding: ${coding}\r\nETag: "e"\r\nContent-MD5: x\r\n`;
        socket.write(plainAnswer(bytes.toString('latin1'), '200 OK', headers), 'latin1');
      });
      const page = pageOf(await get());
      expect(page.body.toString()).toBe(html);
      const isDecoded = coding !== 'identity';
      expect(headerValues(page.headers, 'content-encoding')).toEqual(isDecoded ? [] : ['identity']);
      expect(firstHeader(page.headers, 'etag')).toBe(isDecoded ? 'W/"e"' : '"e"');
      expect(headerValues(page.headers, 'content-md5')).toHaveLength(isDecoded ? 0 : 1);
    });

    it.each([
      ['an unknown one', 'zstd', Buffer.from('x')],
      ['too many', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync('x')))],
      ['one that is named but was not used', 'gzip', Buffer.from('plain text')],
      ['one that ends early', 'gzip', gzipSync(html).subarray(0, 20)],
    ])('refuses %s', async (_what, coding, bytes) => {
      origin.respond(({ socket }) => {
        const headers = `Content-Encoding: ${coding}\r\n`;
        socket.write(plainAnswer(bytes.toString('latin1'), '200 OK', headers), 'latin1');
      });
      expect(wordOf(await get())).toBe('http_protocol_error');
    });

    it('R37: counts the limit after decoding', async () => {
      const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
      origin.respond(({ socket }) => {
        const headers = 'Content-Encoding: gzip\r\n';
        socket.write(plainAnswer(bomb.toString('latin1'), '200 OK', headers), 'latin1');
      });
      expect(bomb.length).toBeLessThan(PAGE_BYTES_MAX);
      expect(wordOf(await get())).toBe('too_large');
    });
  });

  // id, what the origin writes, whether it then closes, what the source says.
  const OK = 'HTTP/1.1 200 OK\r\n';
  const ROWS: readonly (readonly [string, string, 'close' | 'keep', string])[] = [
    ['R01 cut by length', `${OK}Content-Length: 10\r\n\r\nok`, 'close', 'http_response_incomplete'],
    [
      'R02 cut in a chunk',
      `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nok`,
      'close',
      'http_response_incomplete',
    ],
    [
      'D7 no last chunk',
      `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`,
      'close',
      'http_response_incomplete',
    ],
    [
      'R05 length and chunked',
      `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      'keep',
      'http_protocol_error',
    ],
    [
      'R06 two lengths',
      `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
      'keep',
      'http_protocol_error',
    ],
    ['R08 no colon', `${OK}Oops\r\nContent-Length: 2\r\n\r\nok`, 'keep', 'http_protocol_error'],
    [
      'R09 space at colon',
      `${OK}X-A : 1\r\nContent-Length: 2\r\n\r\nok`,
      'keep',
      'http_protocol_error',
    ],
    [
      'R10 fold',
      `${OK}X-A: 1\r\n  2\r\nContent-Length: 2\r\n\r\nok`,
      'keep',
      'http_protocol_error',
    ],
    ['R12 NUL', `${OK}X-A: a\x00b\r\nContent-Length: 2\r\n\r\nok`, 'keep', 'http_protocol_error'],
    ['R13 999', plainAnswer('ok', '999 Odd'), 'keep', 'http_protocol_error'],
    ['R14 099', plainAnswer('ok', '099 Odd'), 'keep', 'http_protocol_error'],
    ['R16 204 with a body', plainAnswer('ok', '204 No Content'), 'keep', '204'],
    ['R17 304 unasked', 'HTTP/1.1 304 Not Modified\r\n\r\n', 'keep', 'http_protocol_error'],
    ['D19 206 unasked', plainAnswer('o', '206 Partial'), 'keep', 'http_protocol_error'],
    ['R18 103 then 200', `HTTP/1.1 103 Early Hints\r\n\r\n${plainAnswer('ok')}`, 'keep', '200'],
    [
      'R24 20 KB header',
      `${OK}X-A: ${'a'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`,
      'keep',
      'http_response_header_section_size',
    ],
    [
      'R25 100 KB header',
      `${OK}X-A: ${'a'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\nok`,
      'keep',
      'http_response_header_section_size',
    ],
    [
      'R26 trailers',
      `${OK}Trailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n`,
      'keep',
      '200',
    ],
    ['R28 accept and close', '', 'close', 'connection_terminated'],
    [
      'R29 gzip, chunked',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      'keep',
      'http_protocol_error',
    ],
    [
      'R30 101 unasked',
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'keep',
      'http_response_incomplete',
    ],
    [
      'R33 chunk size 0x2',
      `${OK}Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n`,
      'keep',
      'http_protocol_error',
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH\r\n', 'close', 'http_protocol_error'],
    ['R34 503 with Retry-After', plainAnswer('x', '503 X', 'Retry-After: 1\r\n'), 'keep', '503'],
    ['D10 a length over the limit', `${OK}Content-Length: 50000000\r\n\r\n`, 'keep', 'too_large'],
  ];

  it.each(ROWS)('%s', async (_id, bytes, then, expected) => {
    origin.respond(({ socket }) => {
      socket.write(bytes, 'latin1');
      if (then === 'close') socket.end();
    });
    const result = await get();
    expect(wordOf(result)).toBe(expected);
    // One attempt on a fresh connection, whatever it brought (R28, R34).
    expect(origin.heads).toHaveLength(1);
    if (result.outcome === 'failed') expect(result.detail).not.toContain('127.0.0.1');
    // The source is not harmed: the next page comes.
    origin.respond(({ socket }) => socket.write(plainAnswer('next')));
    expect(pageOf(await get()).body.toString()).toBe('next');
  });

  it('R16: a 204 has no body', async () => {
    origin.respond(({ socket }) => socket.write(plainAnswer('ok', '204 No Content')));
    expect(pageOf(await get()).body).toHaveLength(0);
  });

  it('R04: a body that ends with the connection is partial', async () => {
    origin.respond(({ socket }) => socket.end(`${OK}Connection: close\r\n\r\nok`));
    const page = pageOf(await get());
    expect(page.body.toString()).toBe('ok');
    expect(page.completeness).toBe('partial');
  });

  it('R22: two Content-Types reach the storage rule as they came', async () => {
    const headers = 'Content-Type: text/html\r\nContent-Type: text/plain\r\n';
    origin.respond(({ socket }) => socket.write(plainAnswer('ok', '200 OK', headers)));
    expect(headerValues(pageOf(await get()).headers, 'content-type')).toHaveLength(2);
  });

  it('R26: trailers are not headers', async () => {
    origin.respond(({ socket }) =>
      socket.write(
        `${OK}Trailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n`,
      ),
    );
    const page = pageOf(await get());
    expect(page.headers).toEqual([]);
    expect(page.completeness).toBe('complete');
  });

  it('R38: stops reading an endless body at the limit', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      origin.respond(({ socket }) => {
        socket.on('close', () => resolve());
        socket.write(`${OK}Connection: close\r\n\r\n`);
        const pump = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 0x61))) written += 65_536;
        };
        socket.on('drain', pump);
        pump();
      });
    });
    expect(wordOf(await get())).toBe('too_large');
    await closed;
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });
});
