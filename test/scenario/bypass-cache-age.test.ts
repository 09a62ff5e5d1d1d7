// What is not rendered, and stored, as it ages: validated, renewed, served stale, taken out by methods
// that change something and by purges.
import { describe, expect, test } from 'vitest';
import { postPurge } from '../helpers/post-purge.ts';
import { type Answer, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { counted, FRESH, setUp, verdict, visits } from './bypass-stage.ts';
import { answer, HUMAN, type Reply } from './stage.ts';

describe('validation', () => {
  test('a 304 renews the fields and the lifetime, not the bytes', async () => {
    const stage = await setUp(() => answer(200, 'abc', FRESH, 'ETag: "a"', 'X-Own: 1'));
    await stage.get();
    stage.current = () =>
      'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nX-Own: 2\r\nCache-Control: max-age=90\r\n\r\n';
    stage.clock.advance(61_000);
    const renewed = await stage.get();
    expect([renewed.status, renewed.body, renewed.header('X-Own')]).toEqual([200, 'abc', '2']);
    expect(renewed.header('Cache-Status')).toContain('fwd=stale; fwd-status=304; ttl=90; stored');
    expect(valuesOf(stage.origin.requests[1], 'if-none-match')).toEqual(['"a"']);
    stage.clock.advance(89_000);
    expect(verdict(await stage.get())).toBe('bypass_cache hit abc');
  });

  test('a new answer takes the place of the old one', async () => {
    visits.count = 0;
    const stage = await setUp(counted(FRESH, 'ETag: "a"'));
    await stage.get();
    stage.clock.advance(61_000);
    expect(verdict(await stage.get())).toBe('bypass new v2');
    expect(verdict(await stage.get())).toBe('bypass_cache hit v2');
  });

  test('one that may not be kept takes the old one along', async () => {
    const stage = await setUp(() => answer(200, 'old', FRESH, 'ETag: "a"'));
    await stage.get();
    stage.clock.advance(61_000);
    stage.current = () => answer(200, 'mine', 'Cache-Control: private');
    expect((await stage.get()).body).toBe('mine');
    stage.current = () => answer(503, 'down');
    expect((await stage.get()).body).toBe('down');
  });

  test('a client that asks for it gets a validated answer', async () => {
    visits.count = 0;
    const stage = await setUp(counted(FRESH));
    await stage.get();
    const asked = await stage.get({ headers: ['Cache-Control: no-cache'] });
    expect(verdict(asked)).toBe('bypass new v2');
    expect(asked.header('Cache-Status')).toContain('fwd=request');
    expect(verdict(await stage.get())).toBe('bypass_cache hit v2');
  });

  test('only-if-cached never goes on', async () => {
    const stage = await setUp(counted(FRESH));
    const headers = ['Cache-Control: only-if-cached'];
    expect((await stage.get({ headers })).status).toBe(504);
    expect(stage.origin.requests.length).toBe(0);
    await stage.get();
    expect((await stage.get({ headers })).status).toBe(200);
  });
});

describe('beyond its freshness', () => {
  test('stale-while-revalidate: served at once, renewed meanwhile', async () => {
    visits.count = 0;
    const stage = await setUp(counted('Cache-Control: max-age=60, stale-while-revalidate=30'));
    await stage.get();
    stage.clock.advance(61_000);
    const stale = await stage.get();
    expect(verdict(stale)).toBe('bypass_cache stale v1');
    expect(stale.header('Cache-Status')).toContain('hit; ttl=-1');
    await waitUntil('it is renewed', async () => {
      return verdict(await stage.get()) === 'bypass_cache hit v2';
    });
    stage.clock.advance(91_000);
    expect(verdict(await stage.get())).toContain('bypass new v3');
  });

  test.each<[string, string, Answer, string]>([
    ['an error', 'max-age=60, stale-if-error=600', () => answer(503, 'down'), '200 old'],
    ['a dead origin', 'max-age=60', (_request, socket) => (socket.destroy(), null), '200 old'],
    [
      'an error, which must be seen',
      'max-age=60, must-revalidate',
      () => answer(503, 'down'),
      '503 down',
    ],
    ['an error, for shared caches', 's-maxage=60', () => answer(503, 'down'), '503 down'],
    ['an answer that is none of these', 'max-age=60', () => answer(404, 'gone'), '404 gone'],
  ])('%s in place of a stale answer', async (_name, control, trouble, expected) => {
    const stage = await setUp(() => answer(200, 'old', `Cache-Control: ${control}`));
    await stage.get();
    stage.clock.advance(120_000);
    stage.current = trouble;
    const reply = await stage.get();
    expect(`${reply.status} ${reply.body}`).toBe(expected);
  });

  test('a dead origin without a stale answer is a 502', async () => {
    const stage = await setUp((_request, socket) => (socket.destroy(), null));
    const reply = await stage.get();
    expect([reply.status, reply.header('Proxy-Status')]).toEqual([
      502,
      expect.stringContaining('edge-gateway; error='),
    ]);
  });
});

describe('purged while it is validated', () => {
  async function validateWhilePurged(order: object, last: string): Promise<Reply> {
    const stage = await setUp(() =>
      answer(200, 'old', 'Cache-Control: max-age=60, stale-if-error=600', 'ETag: "a"'),
    );
    await stage.get();
    stage.clock.advance(120_000);
    const held: ((text: string) => void)[] = [];
    stage.current = (_request, socket) => {
      held.push((text) => void socket.write(text));
      return null;
    };
    const reply = stage.get();
    await waitUntil('the origin is asked', () => held.length === 1);
    const { answer: purged } = await postPurge(stage.gateway.adminPort, order);
    expect(purged).toMatchObject({ entries: 1 });
    held[0]?.(last);
    return await reply;
  }

  test('the origin’s own error, as nothing is left', async () => {
    const reply = await validateWhilePurged({ all: true }, answer(500, 'its own words'));
    expect(reply).toMatchObject({ status: 500, body: 'its own words' });
  });

  test('a 304 renews what is marked stale for nobody else, and is not said to be stored', async () => {
    const unchanged = `HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n${FRESH}\r\n\r\n`;
    const reply = await validateWhilePurged({ all: true, soft: true }, unchanged);
    expect(verdict(reply)).toBe('bypass bypass old');
    expect(reply.header('Cache-Status')).toMatch(/fwd=stale; fwd-status=304(?!.*stored)/);
  });
});

describe('a method that changes something', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s takes the answer out', async (method) => {
    visits.count = 0;
    const stage = await setUp(counted(FRESH));
    await stage.get();
    await stage.get({ method });
    expect(verdict(await stage.get())).toBe('bypass new v3');
  });

  test('not when it failed, nor on another URL, but those it names', async () => {
    const stage = await setUp(({ method, target }) =>
      method === 'POST'
        ? answer(
            Number(target.slice(1)),
            '',
            'Location: /a.js',
            'Content-Location: /b.js?utm_source=x',
          )
        : answer(200, `v${(visits.count += 1)}`, FRESH),
    );
    const hits = async (): Promise<string> => {
      const replies = await Promise.all(
        ['/a.js', '/b.js', '/c.js'].map((one) => stage.get({}, one)),
      );
      return replies.map((reply) => reply.header('X-Render-Cache')).join(' ');
    };
    await hits();
    await stage.get({ method: 'POST' }, '/500');
    expect(await hits()).toBe('hit hit hit');
    await stage.get({ method: 'POST' }, '/200');
    expect(await hits()).toBe('new new hit');
  });
});

test('explain and purge know of it', async () => {
  visits.count = 0;
  const stage = await setUp(counted(FRESH));
  const admin = `http://127.0.0.1:${stage.gateway.adminPort}`;
  const explain = async (): Promise<unknown> => {
    const query = new URLSearchParams({ url: 'http://site.test/app.js', user_agent: HUMAN });
    const response = await fetch(`${admin}/explain?${query.toString()}`);
    return await response.json();
  };
  expect(await explain()).toMatchObject({ cached: 'absent', would: 'bypass' });
  await stage.get();
  expect((await stage.get()).header('X-Render-Cache')).toBe('hit');
  expect(await explain()).toMatchObject({ cached: 'fresh', would: 'serve' });
  const purged = await fetch(`${admin}/purge`, {
    method: 'POST',
    body: JSON.stringify({ url: 'http://site.test/app.js' }),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(await purged.json()).toMatchObject({ entries: 1 });
  expect(verdict(await stage.get())).toBe('bypass new v2');
});
