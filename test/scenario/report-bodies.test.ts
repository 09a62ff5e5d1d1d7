// Group D of the public reports: charset, codings, lengths, and bodies that break off.
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, HUMAN, page, type Reply, setStage, waitForCodings } from './stage.ts';

const LONG_PAGE = `<!doctype html><title>long</title>${'<p>\u00e4 same words</p>'.repeat(500)}`;
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The bytes that a client makes of an answer. */
function decodeBody(reply: Reply): Buffer {
  const bytes = Buffer.from(reply.body, 'latin1');
  const coding = reply.header('Content-Encoding');
  if (coding === null) return bytes;
  return coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes);
}

describe('D2: charset', () => {
  const type = 'Content-Type: text/html; charset=Shift_JIS';
  test.each([
    ['a person', HUMAN],
    ['a crawler', undefined],
  ] as const)('of an origin’s page is untouched, for %s', async (_who, userAgent) => {
    const site = await setStage({ origin: () => answer(200, '\x83e\x83X\x83g', type) });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/sjis', userAgent === undefined ? {} : { userAgent });
      expect(reply.header('Content-Type')).toBe('text/html; charset=Shift_JIS');
      expect(reply.body).toBe('\x83e\x83X\x83g');
    }
  });

  test('of a rendered page is UTF-8, whatever the origin had said', async () => {
    const site = await setStage({ engine: 'service' });
    const headers = [['content-type', 'text/html; charset=Shift_JIS']] as const;
    site.renderer.script('*', { kind: 'page', html: 'テスト', head: { headers } });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/');
      expect(reply.headers('Content-Type')).toEqual(['text/html; charset=utf-8']);
      expect(decodeBody(reply).toString()).toBe('テスト');
    }
  });
});

describe('D3, D6: whatever coding the page came in', () => {
  const html = Buffer.from(LONG_PAGE);
  const zipped = gzipSync(html).toString('latin1');
  const sources = [
    ['an origin’s gzip', page(zipped, 'Content-Encoding: gzip')],
    ['an origin’s x-gzip', page(zipped, 'Content-Encoding: x-gzip')],
    ['an origin’s identity', page(html.toString('latin1'))],
    ['an origin’s identity, named', page(html.toString('latin1'), 'Content-Encoding: identity')],
  ] as const;

  test.each(sources)('%s: each reader gets the same bytes', async (_what, bytes) => {
    const site = await setStage({ origin: () => bytes });
    await site.ask('/');
    await waitForCodings(site, '/');
    await expectAllCodings((coding) => site.ask('/', { headers: [`Accept-Encoding: ${coding}`] }));
    expect(site.origin.requests.length).toBe(1);
  });

  test('a render service that zips unasked: the same', async () => {
    const site = await setStage({ engine: 'service' });
    site.renderer.script('*', { kind: 'gzip', html: LONG_PAGE });
    await site.ask('/');
    await waitForCodings(site, '/');
    await expectAllCodings((coding) => site.ask('/', { headers: [`Accept-Encoding: ${coding}`] }));
  });

  async function expectAllCodings(get: (coding: string) => Promise<Reply>): Promise<void> {
    for (const coding of ['identity', 'gzip', 'br']) {
      const reply = await get(coding);
      expect(reply.header('X-Render-Cache')).toBe('hit');
      expect(reply.header('Content-Encoding')).toBe(coding === 'identity' ? null : coding);
      expect(reply.header('Content-Length')).toBe(String(reply.body.length));
      expect(sha(decodeBody(reply))).toBe(sha(html));
    }
  }

  test.each([
    ['gzip', 'Content-Encoding: gzip'],
    ['br', 'Content-Encoding: br'],
    ['an unknown one', 'Content-Encoding: zstd'],
  ])('a body that is not in its coding (%s) is not stored', async (_what, line) => {
    const site = await setStage({ origin: () => page('plainly not coded', line) });
    const reply = await site.ask('/');
    expect(reply.status).toBe(502);
    expect(reply.header('Proxy-Status')).toContain('error=http_protocol_error');
  });
});

describe('D7: an answer that breaks off is not a page', () => {
  const cut = (bytes: string) => (_request: unknown, socket: Socket) => {
    socket.end(bytes, 'latin1');
    return null;
  };
  const rows = [
    ['short of its length', cut(page('x'.repeat(4_000)).replace('th: 4000', 'th: 10000'))],
    [
      'without its last chunk',
      cut(
        'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      ),
    ],
    ['within a chunk', cut('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe')],
    ['within its head', cut('HTTP/1.1 200 OK\r\nContent-Type: text/ht')],
  ] as const;
  test.each(rows)('%s', async (_what, brokenAnswer) => {
    let isBroken = true;
    const site = await setStage({
      hasTestClock: true,
      origin: (request, socket) => (isBroken ? brokenAnswer(request, socket) : page('whole')),
    });
    const reply = await site.ask('/page');
    expect(reply.status).toBe(502);
    expect(reply.header('Proxy-Status')).toMatch(/error=/);
    isBroken = false;
    site.clock.advance(120_000);
    const later = await site.ask('/page');
    expect([later.body, later.header('X-Render-Cache')]).toEqual(['whole', 'new']);
  });

  test('of a render service: the origin’s page, and nothing is stored', async () => {
    const site = await setStage({
      engine: 'service',
      hasTestClock: true,
      origin: () => page('the origin’s'),
    });
    site.renderer.script('*', { kind: 'cut' });
    expect((await site.ask('/')).header('X-Render-Source')).toBe('bypass');
    site.renderer.script('*', { kind: 'page', html: 'whole' });
    site.clock.advance(120_000);
    const later = await site.ask('/');
    expect([later.body, later.header('X-Render-Cache')]).toEqual(['whole', 'new']);
  });

  test('but a client that leaves midway breaks nothing: the page is stored whole', async () => {
    const site = await setStage({ origin: () => page(LONG_PAGE.repeat(100)) });
    const request = 'GET /left HTTP/1.1\r\nHost: site.test\r\nUser-Agent: Googlebot/2.1\r\n\r\n';
    await sendRaw(site.gateway.port, request, { until: () => true });
    await waitUntil('the page is a hit', async () => {
      const reply = await site.ask('/left');
      return reply.header('X-Render-Cache') === 'hit' && reply.body.length > 900_000;
    });
    expect(site.origin.requests.length).toBe(1);
  });
});

test('D8: a body that breaks off on its way to a person does not end cleanly', async () => {
  const site = await setStage({
    origin: (_request, socket) => {
      socket.end(page('x'.repeat(4_000)).replace('th: 4000', 'th: 10000'), 'latin1');
      return null;
    },
  });
  const reply = await site.ask('/cut', { userAgent: HUMAN });
  expect([reply.status, reply.header('Content-Length')]).toEqual([200, '10000']);
  expect(reply.body.length).toBeLessThanOrEqual(4_000);
  expect(reply.end).not.toBe('open');
});

describe('D10: a page beyond the limit is streamed from the origin and not stored', () => {
  test('50 MB of a renderer', async () => {
    const site = await setStage({ engine: 'service', origin: () => page('from the origin') });
    site.renderer.script('*', { kind: 'huge', bytes: 50 * 1024 * 1024 });
    const before = process.memoryUsage().rss;
    const reply = await site.ask('/huge');
    expect([reply.status, reply.body]).toEqual([200, 'from the origin']);
    expect(reply.header('Cache-Status')).toContain('detail=too_large');
    // The scripted service makes its 50 MB, twice over, in this very process.
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  });

  test('more of an origin than `server.limits.page_bytes`', async () => {
    const site = await setStage({
      gateway: 'server:\n  limits: {page_bytes: 64KiB}\n',
      origin: () => page('x'.repeat(100_000)),
    });
    for (let round = 1; round <= 2; round += 1) {
      const reply = await site.ask('/huge');
      expect([reply.status, reply.body.length]).toEqual([200, 100_000]);
      expect(reply.header('Cache-Status')).toContain('detail=too_large');
      expect(reply.header('Cache-Status')).not.toContain('stored');
    }
  });
});

test('D11: an HTTP/1.0 client gets a length, no chunks and no coding', async () => {
  const site = await setStage({ origin: () => page(LONG_PAGE) });
  for (const cache of ['new', 'hit']) {
    const headers = ['Accept-Encoding: gzip, br'];
    const reply = await site.ask('/old', { version: '1.0', headers });
    expect(reply.header('X-Render-Cache')).toBe(cache);
    expect(reply.header('Content-Length')).toBe(String(reply.body.length));
    expect(reply.head).not.toMatch(/transfer-encoding|content-encoding/i);
  }
});

test('D12: nothing is put into a page', async () => {
  const site = await setStage({ engine: 'service' });
  const html = '<html><head></head><body><a href="#in-page">x</a></body></html>\n';
  site.renderer.script('*', { kind: 'page', html });
  for (let round = 1; round <= 2; round += 1) expect((await site.ask('/')).body).toBe(html);
});
