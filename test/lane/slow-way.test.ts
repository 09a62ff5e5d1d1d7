// What the lane must leave to others, and how both share a connection: in order, nothing lost, and
// never with another verdict than the pipeline has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statusesOf } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, openStage, page, setStage } from '../scenario/stage.ts';
import {
  type Client,
  countParsed,
  openClient,
  plainGet,
  slowly,
  warm,
  withoutId,
} from './lane-client.ts';

const PAGE = plainGet('/page');
const HOUR_MS = 3_600_000;

const bodyOf = (text: string | undefined): string => text?.split('\r\n\r\n')[1] ?? '';
const cacheOf = (text: string): string | undefined => /\r\nX-Render-Cache: (\w+)/.exec(text)?.[1];

describe('on one connection', () => {
  let stage: Awaited<ReturnType<typeof openStage>>;
  const held: (() => void)[] = [];
  beforeAll(async () => {
    stage = await openStage({
      host: 'bots: {verify: "off"}\n',
      origin: ({ target }, socket) => {
        if (!target.startsWith('/held')) return page(`at ${target}`);
        held.push(() => socket.write(page(`at ${target}`)));
        return null;
      },
    });
  });
  afterAll(async () => {
    await stage.close();
  });

  /** A client for whom `/page` is in memory. */
  async function openWarm(): Promise<Client & { readonly parsed: () => number }> {
    const client = await openClient(stage.gateway.port);
    await warm(client, PAGE);
    const first = (await client.answers(1)).length;
    const parsed = countParsed(stage.gateway.port);
    return {
      ...client,
      parsed,
      answers: async (count) => (await client.answers(first + count)).slice(first),
    };
  }

  const rows: readonly (readonly [string, string, number])[] = [
    ['HEAD', PAGE.replace('GET', 'HEAD'), 200],
    ['If-None-Match', plainGet('/page', ['If-None-Match: *']), 304],
    [
      'If-Modified-Since',
      plainGet('/page', ['If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT']),
      304,
    ],
    ['Range', plainGet('/page', ['Range: bytes=0-1']), 200],
    ['HTTP/1.0', PAGE.replace('HTTP/1.1', 'HTTP/1.0'), 200],
    ['Connection: close', plainGet('/page', ['Connection: close']), 200],
    ['POST', plainGet('/page', ['Content-Length: 0']).replace('GET', 'POST'), 200],
    ['a body', `${plainGet('/page', ['Content-Length: 4'])}GET `, 200],
    ['Expect', plainGet('/page', ['Expect: 100-continue']), 200],
    ['an absolute target', PAGE.replace('/page', 'http://site.test/page'), 200],
    ['two fields of a name', plainGet('/page', ['User-Agent: x']), 200],
  ];
  test.each(rows)('%s is parsed', async (_what, request, status) => {
    const client = await openWarm();
    const before = client.text().length;
    client.send(request);
    await waitUntil('an answer', () => client.text().length > before);
    expect(statusesOf(client.text().slice(before))[0]).toBe(status);
    expect(client.parsed()).toBeGreaterThan(0);
  });

  const refused: readonly (readonly [string, string, number])[] = [
    ['a NUL in the path', plainGet('/page%00'), 400],
    ['a fragment', plainGet('/page#x'), 400],
    ['two spaces', PAGE.replace('GET ', 'GET  '), 400],
    ['bare LFs', PAGE.replaceAll('\r\n', '\n'), 400],
    ['a folded line', plainGet('/page', ['X: a', ' b']), 400],
    ['no host', PAGE.replace('Host: site.test\r\n', ''), 400],
    ['two hosts', plainGet('/page', ['Host: site.test']), 400],
    ['a host that is none', plainGet('/page', [], 'site.test/x'), 400],
    [
      'too many fields',
      plainGet(
        '/page',
        Array.from({ length: 101 }, (_, i) => `X-${i}: 1`),
      ),
      431,
    ],
    ['a long target', plainGet(`/page?${'x'.repeat(9_000)}`), 414],
  ];
  test.each(refused)('%s is refused behind answers of the lane', async (_what, request, status) => {
    const client = await openWarm();
    client.send(PAGE);
    await client.answers(1);
    client.send(request);
    const [, refusal] = await client.answers(2);
    expect(statusesOf(refusal ?? '')).toEqual([status]);
    await waitUntil('it is closed', client.isClosed);
  });

  test('what offers an upgrade to nothing is read again without the offer', async () => {
    const client = await openWarm();
    const offer = plainGet('/page', ['Connection: Upgrade', 'Upgrade: foo']);
    for (const request of [offer, PAGE, offer, slowly(PAGE), PAGE]) {
      expect(bodyOf(await client.ask(request))).toBe('at /page');
    }
  });

  test('a loop is found', async () => {
    const client = await openWarm();
    const via = /\r\nVia: 1\.1 (\S+)/.exec(await client.ask(PAGE))?.[1] ?? '';
    expect(client.parsed()).toBe(0);
    expect(statusesOf(await client.ask(plainGet('/page', [`Via: 1.1 ${via}`])))).toEqual([508]);
    expect(client.parsed()).toBe(1);
  });

  test('two in one piece, and one and a half', async () => {
    const client = await openWarm();
    const other = plainGet('/other');
    client.send(PAGE + other);
    client.send(PAGE + other.slice(0, 20));
    const three = await client.answers(3);
    expect(three.map(bodyOf)).toEqual(['at /page', 'at /other', 'at /page']);
    client.send(other.slice(20));
    expect(bodyOf((await client.answers(4))[3])).toBe('at /other');
    expect(client.parsed()).toBe(4);
    client.send(PAGE);
    await client.answers(5);
    expect(client.parsed()).toBe(4);
  });

  test('a head in two pieces, wherever it is cut', async () => {
    const [client, barrier] = [await openWarm(), await openClient(stage.gateway.port)];
    for (let at = 1; at < PAGE.length; at += 6) {
      client.send(PAGE.slice(0, at));
      // When this is answered, the piece has been read.
      await barrier.ask(PAGE);
      expect(bodyOf(await client.ask(PAGE.slice(at)))).toBe('at /page');
    }
  });

  test('one behind another that takes its time, and the other way round', async () => {
    const client = await openWarm();
    client.send(plainGet('/held/1'));
    await waitUntil('it is under way', () => held.length === 1);
    const barrier = await openClient(stage.gateway.port);
    client.send(PAGE);
    await barrier.ask(PAGE);
    held.shift()?.();
    expect((await client.answers(2)).map(bodyOf)).toEqual(['at /held/1', 'at /page']);
    client.send(PAGE);
    await client.answers(3);
    client.send(plainGet('/held/2'));
    await waitUntil('it is under way', () => held.length === 1);
    client.send(PAGE + PAGE);
    await barrier.ask(PAGE);
    held.shift()?.();
    const all = await client.answers(6);
    expect(all.slice(3).map(bodyOf)).toEqual(['at /held/2', 'at /page', 'at /page']);
  });

  test('hundreds, each in whatever piece the system makes of it', async () => {
    const client = await openWarm();
    const targets = Array.from({ length: 400 }, (_, i) => (i % 7 === 3 ? `/page?n=${i}` : '/page'));
    for (const target of targets) client.send(plainGet(target));
    const all = await client.answers(targets.length);
    expect(all.map(bodyOf)).toEqual(targets.map((target) => `at ${target}`));
  });
});

test('a person is never given what a crawler is', async () => {
  const stage = await setStage({ host: 'bots: {verify: "off"}\n' });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  await client.ask(PAGE);
  const person = PAGE.replace(/User-Agent: .*/, 'User-Agent: Mozilla/5.0 Firefox/140.0');
  for (let i = 0; i < 3; i += 1) expect(cacheOf(await client.ask(person))).toBe('bypass');
  expect(cacheOf(await client.ask(plainGet('/page', ['Authorization: Basic eDp5'])))).toBe(
    'bypass',
  );
  expect(cacheOf(await client.ask(PAGE))).toBe('hit');
});

test('a stale page is renewed, and the new one goes out', async () => {
  let version = 1;
  const stage = await setStage({
    hasTestClock: true,
    host: 'bots: {verify: "off"}\n',
    render: 'cache: {ttl: 1h, jitter: 0}',
    origin: () => page(`v${version}`),
  });
  const client = await openClient(stage.gateway.port);
  const parsed = countParsed(stage.gateway.port);
  while (version < 4) {
    await warm(client, PAGE);
    const before = parsed();
    expect(bodyOf(await client.ask(PAGE))).toBe(`v${version}`);
    stage.clock.advance(HOUR_MS - 1);
    expect(bodyOf(await client.ask(PAGE))).toBe(`v${version}`);
    expect(parsed()).toBe(before);
    stage.clock.advance(1);
    const text = await client.ask(PAGE);
    expect([cacheOf(text), parsed()]).toEqual(['stale', before + 1]);
    await waitUntil('it is renewed', async () => cacheOf(await client.ask(PAGE)) === 'hit');
    stage.clock.advance(HOUR_MS);
    version += 1;
    await waitUntil('the next one', async () => bodyOf(await client.ask(PAGE)) === `v${version}`);
  }
});

test('a hit on an old page still asks for a refresh, once', async () => {
  const stage = await setStage({
    hasTestClock: true,
    host: 'bots: {verify: "off"}\n',
    render: 'cache: {ttl: 10h, jitter: 0}',
    gateway: 'bothit_recache: {enabled: true, interval: 2h, match_ua: [$SearchBots]}\n',
  });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  stage.clock.advance(2 * HOUR_MS);
  const parsed = countParsed(stage.gateway.port);
  expect(cacheOf(await client.ask(PAGE))).toBe('hit');
  expect(parsed()).toBe(0);
  await waitUntil('it was got again', () => stage.origin.requests.length === 2);
});

test('what turned out to be no page is passed on', async () => {
  let isPage = true;
  const stage = await setStage({
    hasTestClock: true,
    host: 'bots: {verify: "off"}\n',
    render: 'cache: {ttl: 1h, jitter: 0}',
    origin: () => (isPage ? page('page') : answer(200, '{}', 'Content-Type: application/json')),
  });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  await client.ask(PAGE);
  isPage = false;
  stage.clock.advance(HOUR_MS);
  await waitUntil('it is passed on', async () => bodyOf(await client.ask(PAGE)) === '{}');
  for (let i = 0; i < 3; i += 1) expect(bodyOf(await client.ask(PAGE))).toBe('{}');
});

test('answers without content are written by who knows how', async () => {
  const stage = await setStage({
    host: 'bots: {verify: "off"}\n',
    render: 'cache: {status_codes: [200, 204, 205]}',
    origin: ({ target }) => answer(Number(target.slice(1)), '', 'Content-Type: text/html'),
  });
  const client = await openClient(stage.gateway.port);
  for (const target of ['/204', '/205']) {
    const request = plainGet(target);
    await warm(client, request);
    const parsed = countParsed(stage.gateway.port);
    const [one, other] = [await client.ask(request), await client.ask(slowly(request))];
    expect(parsed()).toBe(2);
    expect(withoutId(one)).toBe(withoutId(other));
    expect(bodyOf(one)).toBe('');
  }
});

test('a large page is the same on both ways, in as many pieces as it takes', async () => {
  const body = 'abcdefghij'.repeat(50_000);
  const stage = await setStage({
    hasTestClock: true,
    host: 'bots: {verify: "off"}\n',
    origin: () => page(body),
  });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  for (let i = 0; i < 3; i += 1) {
    const [one, other] = [await client.ask(PAGE), await client.ask(slowly(PAGE))];
    expect(withoutId(one)).toBe(withoutId(other));
    expect(bodyOf(one)).toBe(body);
  }
});

test('a head of more than header_bytes is refused, hit or not', async () => {
  const stage = await setStage({
    host: 'bots: {verify: "off"}\n',
    gateway: 'server:\n  limits: {header_bytes: 512}\n',
  });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  const parsed = countParsed(stage.gateway.port);
  expect(statusesOf(await client.ask(PAGE))).toEqual([200]);
  expect(parsed()).toBe(0);
  client.send(plainGet('/page', [`X: ${'x'.repeat(512)}`]));
  await waitUntil('it is closed', client.isClosed);
  expect(client.text()).toMatch(/HTTP\/1\.1 431 [^\r]*\r\n.*header_bytes\n$/s);
});
