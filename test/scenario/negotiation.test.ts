// What a stored page says on the wire: conditions, codings, and what other caches may do with it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HUMAN, openStage, page, type Reply, setStage, waitForCodings } from './stage.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(400)}`;

let stage: Awaited<ReturnType<typeof openStage>>;
let first: Reply;
beforeAll(async () => {
  stage = await openStage({ origin: () => page(HTML) });
  first = await stage.ask('/page');
  await waitForCodings(stage, '/page');
});
afterAll(async () => {
  await stage.close();
});

describe('a condition', () => {
  const etag = (): string => first.header('ETag') ?? '';
  const modified = (): string => first.header('Last-Modified') ?? '';
  const rows: readonly (readonly [string, () => readonly string[], number])[] = [
    ['our ETag', () => [`If-None-Match: ${etag()}`], 304],
    ['our ETag, as a strong one', () => [`If-None-Match: ${etag().slice(2)}`], 304],
    ['a list with it', () => [`If-None-Match: "a", ${etag()}`], 304],
    ['any', () => ['If-None-Match: *'], 304],
    ['another ETag', () => ['If-None-Match: "other"'], 200],
    ['our date', () => [`If-Modified-Since: ${modified()}`], 304],
    ['an older date', () => ['If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT'], 200],
    ['no date', () => ['If-Modified-Since: yesterday'], 200],
    [
      'another ETag and our date: the ETag counts',
      () => ['If-None-Match: "other"', `If-Modified-Since: ${modified()}`],
      200,
    ],
    ['a range, which HTML does not have', () => ['Range: bytes=0-3'], 200],
  ];
  test.each(rows)('%s', async (_what, headers, status) => {
    for (const method of ['GET', 'HEAD']) {
      const reply = await stage.ask('/page', { method, headers: headers() });
      expect([reply.status, reply.header('X-Render-Cache')]).toEqual([status, 'hit']);
      expect(reply.header('ETag')).toBe(etag());
      if (status === 200) continue;
      expect(reply.body).toBe('');
      expect(reply.head).not.toMatch(/content-(length|type|encoding)/i);
      expect(reply.header('Vary')).toBe(first.header('Vary'));
    }
    expect(stage.origin.requests.length).toBe(1);
  });
});

describe('D4: Accept-Encoding', () => {
  const rows = [
    [null, null],
    ['', null],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.4, gzip;q=0.5', 'gzip'],
    ['*', 'br'],
    ['*;q=0', null],
    ['identity;q=0', null],
    ['identity;q=0, gzip', 'gzip'],
    ['identity, gzip;q=0.5', null],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['zstd', null],
    ['br;q=nonsense, gzip', 'gzip'],
  ] as const;
  test.each(rows)('%j: %j', async (accepted, coding) => {
    const headers = accepted === null ? [] : [`Accept-Encoding: ${accepted}`];
    const reply = await stage.ask('/page', { headers });
    expect(reply.header('Content-Encoding')).toBe(coding);
    expect(reply.header('Content-Length')).toBe(String(reply.body.length));
    expect(reply.header('Vary')).toBe('Accept-Encoding, User-Agent');
    expect(reply.header('ETag')).toBe(first.header('ETag'));
  });
});

describe('downstream_cache', () => {
  const control = [
    'Cache-Control: public, max-age=5',
    'Expires: Thu, 01 Jan 2099 00:00:00 GMT',
    'Surrogate-Control: no-store',
  ];
  const rows = [
    ['private', 'private, no-cache', 'Accept-Encoding, User-Agent', null, null],
    ['vary', 'public, max-age=3600', 'Accept-Encoding, User-Agent', null, null],
    [
      'origin',
      'public, max-age=5',
      'Accept-Encoding, User-Agent, Accept',
      'Thu, 01 Jan 2099 00:00:00 GMT',
      'no-store',
    ],
  ] as const;
  test.each(rows)('%s', async (mode, cacheControl, vary, expires, surrogateControl) => {
    const site = await setStage({
      hasTestClock: true,
      render: 'cache: {jitter: 0}',
      gateway: `downstream_cache: ${mode}\nheaders: {safe_response_add: [Vary]}\n`,
      origin: () => page(HTML, ...control, 'Vary: Accept'),
    });
    for (const cache of ['new', 'hit']) {
      const reply = await site.ask('/');
      expect(reply.header('X-Render-Cache')).toBe(cache);
      expect(reply.headers('Cache-Control')).toEqual([cacheControl]);
      expect(reply.headers('Vary')).toEqual([vary]);
      expect(reply.header('Expires')).toBe(expires);
      expect(reply.header('Surrogate-Control')).toBe(surrogateControl);
    }
    site.clock.advance(600_000);
    const later = await site.ask('/');
    // Caches subtract the age themselves.
    expect([later.header('Cache-Control'), later.header('Age')]).toEqual([cacheControl, '600']);
  });
});

test('diagnostics: off hides how an answer came about, but not the standard’s own word', async () => {
  const hidden = /^x-(request|render|cache|matched|unmatched|processed)/im;
  const site = await setStage({
    gateway: 'diagnostics: off\n',
    host: 'url_rules: [{match: /blocked, action: block}]\n',
  });
  for (const target of ['/', '/', '/blocked']) {
    expect((await site.ask(target)).head).not.toMatch(hidden);
  }
  expect((await site.ask('/', { userAgent: HUMAN })).head).not.toMatch(hidden);
  expect((await site.ask('/')).header('Cache-Status')).toContain('edge-gateway; hit');
});
