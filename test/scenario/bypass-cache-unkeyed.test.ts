// What a client says beside the URL, and an answer that is kept: it is chosen only by what the
// origin heard, and the origin hears nothing that is neither in the key nor named by `Vary`.
import { describe, expect, test } from 'vitest';
import { type Answer, valuesOf } from '../helpers/raw-origin.ts';
import { counted, FRESH, setUp, verdict, visits } from './bypass-stage.ts';
import { answer } from './stage.ts';

/** An origin that says which device it was asked for. */
const byDevice: Answer = ({ fields }) => {
  visits.count += 1;
  const device = fields.find(([name]) => name === 'x-device')?.[1] ?? 'none';
  return answer(200, device, FRESH, 'Vary: X-Device, User-Agent, X_Odd');
};

describe('a variant', () => {
  test.each<[string, readonly string[]]>([
    ['a field that Connection takes away', ['Connection: X-Device', 'X-Device: mobile']],
    ['a name that is not passed on', ['X_Odd: 1']],
  ])('is not chosen by %s', async (_name, headers) => {
    visits.count = 0;
    const stage = await setUp(byDevice);
    expect(verdict(await stage.get({ headers }))).toBe('bypass new none');
    expect(verdict(await stage.get())).toBe('bypass_cache hit none');
    expect(verdict(await stage.get({ headers: ['X-Device: mobile'] }))).toBe('bypass new mobile');
    expect(visits.count).toBe(2);
  });

  test('is not chosen by a User-Agent that is replaced', async () => {
    visits.count = 0;
    const stage = await setUp(byDevice, {
      host: 'bypass: {user_agent: Gate, cache: {enabled: true, ttl: 0s}}',
    });
    expect(verdict(await stage.get())).toBe('bypass new none');
    expect(verdict(await stage.get({ userAgent: 'Another/1.0' }))).toBe('bypass_cache hit none');
    expect(valuesOf(stage.origin.requests[0], 'user-agent')).toEqual(['Gate']);
  });

  test('is what the answer is from the 304 on that says so', async () => {
    const stage = await setUp(() => answer(200, 'old', FRESH, 'ETag: "a"'));
    await stage.get();
    stage.clock.advance(70_000);
    stage.current = ({ fields }) =>
      fields.some(([name]) => name === 'if-none-match')
        ? `HTTP/1.1 304 Not Modified\r\n${FRESH}\r\nETag: "a"\r\nVary: X-Device\r\n\r\n`
        : answer(200, 'for mobiles', FRESH, 'Vary: X-Device');
    expect(verdict(await stage.get({ headers: ['Cache-Control: no-cache'] }))).toContain('old');
    const mobile = { headers: ['X-Device: mobile'] };
    expect(verdict(await stage.get(mobile))).toBe('bypass new for mobiles');
    expect(verdict(await stage.get(mobile))).toBe('bypass_cache hit for mobiles');
    expect(verdict(await stage.get())).toBe('bypass_cache hit old');
  });

  test('is one no more from the 304 on that chooses by nothing', async () => {
    const vary = 'Vary: X-Device';
    const stage = await setUp(() => answer(200, 'old', FRESH, vary, 'ETag: "a"'));
    await stage.get();
    stage.clock.advance(70_000);
    stage.current = () => `HTTP/1.1 304 Not Modified\r\n${FRESH}\r\nETag: "a"\r\nVary: \r\n\r\n`;
    await stage.get();
    expect(verdict(await stage.get({ headers: ['X-Device: mobile'] }))).toBe(
      'bypass_cache hit old',
    );
  });
});

test('a 304 that sets a cookie is not said to be stored', async () => {
  visits.count = 0;
  const stage = await setUp(counted(FRESH, 'ETag: "a"'));
  await stage.get();
  stage.clock.advance(70_000);
  stage.current = () => 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nSet-Cookie: user=anna\r\n\r\n';
  const reply = await stage.get();
  expect(reply.body).toBe('v1');
  expect(reply.header('Cache-Status')).not.toContain('stored');
  stage.current = counted(FRESH);
  expect(verdict(await stage.get())).toBe('bypass new v2');
});

describe('for an answer that may be kept the origin does not hear', () => {
  const TRUSTED = 'server:\n  trusted_proxies: [127.0.0.1]\n';
  const FIELDS = [
    ...['X-Original-URL', 'X-Forwarded-Prefix', 'X-HTTP-Method-Override', 'X-Forwarded-Port'],
    ...['X-HTTP-Method', 'X-Method', 'X-Original-URI', 'X-Forwarded-Uri', 'X-Forwarded-Path'],
    ...['X-Envoy-Original-Path', 'Request-URI', 'X-Forwarded-Protocol', 'X-Scheme'],
    ...['X-Url-Scheme', 'Front-End-Https', 'X-ARR-SSL', 'X-Forwarded-By', 'True-Client-IP'],
    ...['X-Client-IP', 'X-Cluster-Client-IP', 'X-Middleware-Subrequest', 'X-Invoke-Path'],
    ...['X-Matched-Path', 'X-Rewrite-URL', 'X-Real-IP', 'X-Now-Route-Matches', 'X-Forwarded'],
    ...['X-HTTP-Path-Override', 'X-Proxy-URL', 'X-Sendfile-Type', 'X-Accel-Mapping'],
    ...['X-Prerender', 'X-Edge-Render', 'X-React-Router-SPA-Mode', 'X-Host-Override', 'X-Proto'],
    ...['X-React-Router-Prerender-Data', 'X-Nextjs-Data', 'X-Astro-Path', 'X-Astro-Locals'],
    ...['X-Backend-Host', 'X-Request-Path', 'X-Protocol', 'CF-Connecting-IP', 'Fastly-Client-IP'],
  ];

  test.each<[string, string]>([
    ['anybody', ''],
    ['a trusted proxy', TRUSTED],
  ])('what frameworks take for a route: %s', async (_name, gateway) => {
    const stage = await setUp(counted(FRESH), { gateway });
    const headers = [...FIELDS.map((name) => `${name}: evil`), 'X-Own: 1'];
    await stage.get({ headers });
    const heard = stage.origin.requests[0]?.fields.map(([name]) => name) ?? [];
    expect(FIELDS.filter((name) => heard.includes(name.toLowerCase()))).toEqual([]);
    expect(heard).toContain('x-own');
  });

  test('another scheme than the host’s, whoever names it', async () => {
    const stage = await setUp(counted(FRESH), { gateway: TRUSTED });
    await stage.get({ headers: ['X-Forwarded-Proto: http'] });
    const kept = valuesOf(stage.origin.requests[0], 'x-forwarded-proto');
    await stage.get({ headers: ['X-Forwarded-Proto: ftp'], method: 'POST' });
    expect(kept).toEqual(valuesOf(stage.origin.requests[1], 'x-forwarded-proto'));
    await stage.get({ headers: ['X-Forwarded-Proto: http'], method: 'POST' });
    expect(valuesOf(stage.origin.requests[2], 'x-forwarded-proto')).toEqual(['http']);
    expect(kept).toEqual(['https']);
  });
});
