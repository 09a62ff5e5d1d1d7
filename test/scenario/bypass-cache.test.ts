// What is not rendered, cached as a shared HTTP cache may (RFC 9111), over the wire: who is answered
// from the store, and what nobody else ever gets.
import { describe, expect, test } from 'vitest';
import { type Answer, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { counted, FRESH, setUp, verdict, visits } from './bypass-stage.ts';
import { answer, askedFor, type Question } from './stage.ts';

describe('a second request', () => {
  test('is answered from the store, with the origin’s own fields', async () => {
    visits.count = 0;
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
    visits.count = 0;
    const stage = await setUp(counted(FRESH));
    await stage.get({}, '/a.js?b=1&utm_source=x&a=2');
    expect(verdict(await stage.get({}, '/a.js?a=2&b=1'))).toBe('bypass_cache hit v1');
    expect(askedFor(stage.origin)).toEqual(['GET /a.js?a=2&b=1']);
  });

  test('HEAD is answered from it, and never fills it', async () => {
    visits.count = 0;
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
    visits.count = 0;
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
    visits.count = 0;
    const stage = await setUp(counted(...lines));
    expect(verdict(await stage.get())).toBe('bypass bypass v1');
    expect(verdict(await stage.get())).toBe('bypass bypass v2');
  });

  test('credentials: only what is said to be for everybody', async () => {
    visits.count = 0;
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
    visits.count = 0;
    const stage = await setUp(counted(FRESH));
    const target = '/f.js?utm_source=a&X-Amz-Signature=x';
    await stage.get({}, target);
    await stage.get({}, target);
    expect(askedFor(stage.origin)).toEqual([`GET ${target}`, `GET ${target}`]);
  });

  test('a host that wants no cache has none', async () => {
    visits.count = 0;
    const stage = await setUp(counted(FRESH), { host: '' });
    await stage.get();
    expect(verdict(await stage.get())).toBe('bypass bypass v2');
  });
});

describe('variants', () => {
  const byLanguage: Answer = ({ fields }) => {
    const language = fields.find(([name]) => name === 'accept-language')?.[1] ?? 'none';
    return answer(
      200,
      `${language} ${(visits.count += 1)}`,
      FRESH,
      'Vary: Accept-Language, Cookie',
    );
  };
  const asking = (language: string): Question => ({ headers: [`Accept-Language: ${language}`] });

  test('each is kept, and found by what it was chosen by', async () => {
    visits.count = 0;
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
    visits.count = 0;
    const stage = await setUp(byLanguage);
    for (let i = 0; i <= 32; i += 1) await stage.get(asking(`l${i}`));
    expect(verdict(await stage.get(asking('l32')))).toContain('bypass_cache hit');
    expect(verdict(await stage.get(asking('l1')))).toContain('bypass_cache hit');
    expect(verdict(await stage.get(asking('l0')))).toContain('bypass new');
  });

  test('a method that changes something takes all of them out', async () => {
    visits.count = 0;
    const stage = await setUp(byLanguage);
    await stage.get(asking('de'));
    await stage.get(asking('en'));
    await stage.get({ method: 'POST' });
    expect(verdict(await stage.get(asking('de')))).toContain('bypass new');
    expect(verdict(await stage.get(asking('en')))).toContain('bypass new');
  });
});

test.each<[detail: string, question: Question]>([
  ['cookie', { headers: ['Cookie: a=b'] }],
  ['authorization', { headers: ['Authorization: Basic eDp5'] }],
  ['range', { headers: ['Range: bytes=0-1'] }],
  ['no_store', { headers: ['Cache-Control: no-store'] }],
  ['condition', { headers: ['If-Match: "a"'] }],
  ['event_stream', { headers: ['Accept: text/event-stream'] }],
  ['method', { method: 'POST' }],
  ['method', { method: 'HEAD' }],
])('why the cache has no part in it: %s', async (detail, question) => {
  const stage = await setUp(counted(FRESH));
  const reply = await stage.get(question);
  expect(reply.header('Cache-Status')).toMatch(new RegExp(`; detail=${detail}$`));
  await waitUntil('it is logged', () =>
    stage.gateway.log.some((line) => line['detail'] === detail),
  );
});

test('what says nothing about freshness is kept by `ttl`, but not where a rule switches that off', async () => {
  visits.count = 0;
  const rule = '{match: [/cart], action: bypass, bypass: {cache: {enabled: false}}}';
  const host = `bypass: {cache: {enabled: true}}\nurl_rules:\n  - ${rule}\n`;
  const stage = await setUp(counted(), { host });
  await stage.get({}, '/other');
  expect(verdict(await stage.get({}, '/other'))).toBe('bypass_cache hit v1');
  expect(verdict(await stage.get({}, '/cart'))).toBe('bypass bypass v2');
  expect(verdict(await stage.get({}, '/cart'))).toBe('bypass bypass v3');
});
