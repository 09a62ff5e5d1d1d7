// What is not rendered, cached as a shared HTTP cache may (RFC 9111), over the wire: who is answered
// from the store, what is asked of the origin, and what nobody else ever gets.
import { describe, expect, test } from 'vitest';
import { type Answer, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  answer,
  askedFor,
  HUMAN,
  type Question,
  type Reply,
  type Stage,
  type StageOptions,
  setStage,
} from './stage.ts';

const CACHE = 'bypass: {cache: {enabled: true, ttl: 0s}}';
const FRESH = 'Cache-Control: max-age=60';

/** A stage whose origin answers what `current` says at the time. */
async function setUp(
  first: Answer,
  options: StageOptions = {},
): Promise<
  Stage & { current: Answer; readonly get: (q?: Question, target?: string) => Promise<Reply> }
> {
  const script = { current: first };
  const stage = await setStage({
    hasTestClock: true,
    host: CACHE,
    ...options,
    origin: (request, socket) => script.current(request, socket),
  });
  return Object.assign(script, stage, {
    get: (question?: Question, target = '/app.js') =>
      stage.ask(target, { userAgent: HUMAN, ...question }),
  });
}

const verdict = (reply: Reply): string =>
  `${reply.header('X-Render-Source')} ${reply.header('X-Render-Cache')} ${reply.body}`;

let count = 0;
/** An answer that tells the visits of the origin. */
const counted =
  (...lines: readonly string[]): Answer =>
  () => {
    count += 1;
    return answer(200, `v${count}`, ...lines);
  };

describe('a second request', () => {
  test('is answered from the store, with the origin’s own fields', async () => {
    count = 0;
    const stage = await setUp(
      counted(FRESH, 'X-Own: 1', 'Content-Type: text/plain', 'ETag: "a"', 'Content-Encoding: br'),
    );
    const first = await stage.get();
    expect(verdict(first)).toBe('bypass new v1');
    expect(first.header('Cache-Status')).toMatch(
      /^edge-gateway; fwd=uri-miss; stored; key="cache:1:0:[0-9a-f]{16}"$/,
    );
    stage.clock.advance(20_000);
    const second = await stage.get();
    expect(verdict(second)).toBe('bypass_cache hit v1');
    expect(second.header('Age')).toBe('20');
    expect(second.header('Cache-Status')).toContain('edge-gateway; hit; ttl=40; key=');
    for (const name of ['X-Own', 'Content-Type', 'ETag', 'Cache-Control', 'Content-Encoding']) {
      expect(second.header(name)).toBe(first.header(name));
    }
    expect(second.header('Via')).toContain('edge-gateway');
    stage.clock.advance(40_000);
    expect(verdict(await stage.get())).toBe('bypass new v2');
  });

  test('finds it under every spelling of the URL, and the origin sees the normal one', async () => {
    count = 0;
    const stage = await setUp(counted(FRESH));
    await stage.get({}, '/a.js?b=1&utm_source=x&a=2');
    expect(verdict(await stage.get({}, '/a.js?a=2&b=1'))).toBe('bypass_cache hit v1');
    expect(askedFor(stage.origin)).toEqual(['GET /a.js?a=2&b=1']);
  });

  test('HEAD is answered from it, and never fills it', async () => {
    count = 0;
    const stage = await setUp(counted(FRESH));
    await stage.get({ method: 'HEAD' });
    expect(askedFor(stage.origin)).toEqual(['HEAD /app.js']);
    expect(verdict(await stage.get())).toBe('bypass new v2');
    const head = await stage.get({ method: 'HEAD' });
    expect(head.header('Cache-Status')).toContain('; hit;');
    expect([head.header('Content-Length'), head.body]).toEqual(['2', '']);
  });

  test('a client that has it is told so', async () => {
    const stage = await setUp(() =>
      answer(200, 'abc', FRESH, 'ETag: "a"', 'Content-Type: text/plain'),
    );
    const headers = ['If-None-Match: W/"a"'];
    const first = await stage.get({ headers });
    expect([first.status, first.body, first.header('Content-Length')]).toEqual([304, '', null]);
    expect(first.header('Cache-Status')).toContain('fwd=uri-miss; fwd-status=200; stored');
    const second = await stage.get({ headers });
    expect([second.status, second.header('ETag')]).toEqual([304, '"a"']);
    expect(second.header('Cache-Status')).toContain('; hit;');
    expect((await stage.get()).body).toBe('abc');
    expect(valuesOf(stage.origin.requests[0], 'if-none-match')).toEqual([]);
  });

  test('a part is cut from the whole', async () => {
    const stage = await setUp(() => answer(200, '0123456789', FRESH, 'ETag: "a"'));
    await stage.get();
    const part = await stage.get({ headers: ['Range: bytes=2-4'] });
    expect([part.status, part.body, part.header('Content-Range')]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ]);
    const last = await stage.get({ headers: ['Range: bytes=-2', 'If-Range: "a"'] });
    expect([last.status, last.body]).toEqual([206, '89']);
    const none = await stage.get({ headers: ['Range: bytes=20-'] });
    expect([none.status, none.header('Content-Range')]).toEqual([416, 'bytes */10']);
    const whole = await stage.get({ headers: ['Range: bytes=2-4', 'If-Range: "b"'] });
    expect([whole.status, whole.body]).toEqual([200, '0123456789']);
    expect(stage.origin.requests.length).toBe(1);
  });

  test('a part that is not stored is passed on as it was asked for, and not stored', async () => {
    const stage = await setUp(({ fields }) =>
      fields.some(([name]) => name === 'range')
        ? answer(206, '23', FRESH, 'Content-Range: bytes 2-3/10')
        : answer(200, '0123456789', FRESH),
    );
    const headers = ['Range: bytes=2-3'];
    expect((await stage.get({ headers })).status).toBe(206);
    expect((await stage.get()).body).toBe('0123456789');
    expect(stage.origin.requests.length).toBe(2);
  });
});

describe('a person’s answer is for that person alone', () => {
  test('a request with a cookie is neither answered from the store nor stored', async () => {
    const stage = await setUp(({ fields }) => {
      const cookie = fields.find(([name]) => name === 'cookie')?.[1] ?? 'nobody';
      return answer(200, cookie, FRESH);
    });
    const anna = { headers: ['Cookie: user=anna'] };
    expect(verdict(await stage.get(anna))).toBe('bypass bypass user=anna');
    expect(verdict(await stage.get())).toBe('bypass new nobody');
    expect(verdict(await stage.get(anna))).toBe('bypass bypass user=anna');
    expect(verdict(await stage.get())).toBe('bypass_cache hit nobody');
  });

  test('unless the host says that cookies don’t matter', async () => {
    count = 0;
    const host = 'bypass: {cache: {enabled: true, cookies: ignore}}';
    const stage = await setUp(counted(FRESH), { host });
    await stage.get({ headers: ['Cookie: a=b'] });
    expect(verdict(await stage.get({ headers: ['Cookie: c=d'] }))).toBe('bypass_cache hit v1');
  });

  test.each<[string, readonly string[]]>([
    ['it sets a cookie', [FRESH, 'Set-Cookie: user=anna']],
    ['it is private', ['Cache-Control: private, max-age=60']],
    ['it is not to be stored', ['Cache-Control: no-store']],
    ['it varies by anything', [FRESH, 'Vary: *']],
    ['it says nothing', []],
  ])('not when %s', async (_name, lines) => {
    count = 0;
    const stage = await setUp(counted(...lines));
    expect(verdict(await stage.get())).toBe('bypass bypass v1');
    expect(verdict(await stage.get())).toBe('bypass bypass v2');
  });

  test('credentials: only what is said to be for everybody', async () => {
    count = 0;
    const stage = await setUp(counted(FRESH));
    const headers = ['Authorization: Basic x'];
    expect(verdict(await stage.get({ headers }))).toBe('bypass bypass v1');
    expect(verdict(await stage.get())).toBe('bypass new v2');
    expect(verdict(await stage.get({ headers }))).toBe('bypass bypass v3');
    stage.current = counted('Cache-Control: public, max-age=60');
    expect(verdict(await stage.get({ headers }, '/b.js'))).toBe('bypass new v4');
    expect(verdict(await stage.get({ headers }, '/b.js'))).toBe('bypass_cache hit v4');
    expect(verdict(await stage.get({}, '/b.js'))).toBe('bypass_cache hit v4');
  });

  test('a signed URL goes on as it came', async () => {
    count = 0;
    const stage = await setUp(counted(FRESH));
    const target = '/f.js?utm_source=a&X-Amz-Signature=x';
    await stage.get({}, target);
    await stage.get({}, target);
    expect(askedFor(stage.origin)).toEqual([`GET ${target}`, `GET ${target}`]);
  });

  test('a host that wants no cache has none', async () => {
    count = 0;
    const stage = await setUp(counted(FRESH), { host: '' });
    await stage.get();
    expect(verdict(await stage.get())).toBe('bypass bypass v2');
  });
});

describe('variants', () => {
  const byLanguage: Answer = ({ fields }) => {
    const language = fields.find(([name]) => name === 'accept-language')?.[1] ?? 'none';
    return answer(200, `${language} ${(count += 1)}`, FRESH, 'Vary: Accept-Language, Cookie');
  };
  const asking = (language: string): Question => ({ headers: [`Accept-Language: ${language}`] });

  test('each is kept, and found by what it was chosen by', async () => {
    count = 0;
    const stage = await setUp(byLanguage);
    expect(verdict(await stage.get(asking('de')))).toBe('bypass new de 1');
    const other = await stage.get(asking('en'));
    expect(verdict(other)).toBe('bypass new en 2');
    expect(other.header('Cache-Status')).toContain('fwd=vary-miss');
    expect(verdict(await stage.get(asking(' DE ')))).toBe('bypass_cache hit de 1');
    expect(verdict(await stage.get(asking('en')))).toBe('bypass_cache hit en 2');
    expect(verdict(await stage.get())).toBe('bypass new none 3');
  });

  test('so many and no more', async () => {
    count = 0;
    const stage = await setUp(byLanguage);
    for (let i = 0; i <= 32; i += 1) await stage.get(asking(`l${i}`));
    expect(verdict(await stage.get(asking('l32')))).toContain('bypass_cache hit');
    expect(verdict(await stage.get(asking('l1')))).toContain('bypass_cache hit');
    expect(verdict(await stage.get(asking('l0')))).toContain('bypass new');
  });

  test('a method that changes something takes all of them out', async () => {
    count = 0;
    const stage = await setUp(byLanguage);
    await stage.get(asking('de'));
    await stage.get(asking('en'));
    await stage.get({ method: 'POST' });
    expect(verdict(await stage.get(asking('de')))).toContain('bypass new');
    expect(verdict(await stage.get(asking('en')))).toContain('bypass new');
  });
});

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
    count = 0;
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
    count = 0;
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
    count = 0;
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

describe('a method that changes something', () => {
  test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s takes the answer out', async (method) => {
    count = 0;
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
        : answer(200, `v${(count += 1)}`, FRESH),
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
  count = 0;
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
