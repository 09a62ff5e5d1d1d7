// Freshness over the wire, with a clock that the test moves: the three instants of an entry, refreshes
// behind the client's back, and what a failed one does.
import { describe, expect, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import { postPurge } from '../helpers/post-purge.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, page, type Stage, type StageOptions, setStage } from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EXACT = 'cache: {jitter: 0}';

let version = 1;
const setUp = async (options: StageOptions = {}): Promise<Stage> => {
  version = 1;
  return await setStage({
    hasTestClock: true,
    render: EXACT,
    origin: ({ target }) => page(`v${version} ${target}`),
    ...options,
  });
};

const verdict = async (stage: Stage, target = '/page'): Promise<string> => {
  const reply = await stage.ask(target);
  return `${reply.header('X-Render-Cache')} ${reply.body}`;
};

describe('the three instants', () => {
  test('fresh, stale, gone', async () => {
    const stage = await setUp({ render: 'cache: {ttl: 10m, jitter: 0, expired: {stale_ttl: 1h}}' });
    expect(await verdict(stage)).toBe('new v1 /page');
    version = 2;
    stage.clock.advance(10 * MINUTE_MS - 1);
    expect(await verdict(stage)).toBe('hit v1 /page');
    stage.clock.advance(1);
    expect(await verdict(stage)).toBe('stale v1 /page');
    await waitUntil('the refresh is there', async () => (await verdict(stage)) === 'hit v2 /page');
    version = 3;
    stage.clock.advance(70 * MINUTE_MS);
    expect(await verdict(stage)).toBe('new v3 /page');
    expect(stage.origin.requests.length).toBe(3);
  });

  test('Age and ttl tell the time', async () => {
    const stage = await setUp();
    await stage.ask('/page');
    stage.clock.advance(90_500);
    const reply = await stage.ask('/page');
    expect([reply.header('Age'), reply.header('X-Cache-Age')]).toEqual(['90', '90']);
    expect(reply.header('Cache-Status')).toContain('hit; ttl=3509;');
    stage.clock.advance(HOUR_MS);
    expect((await stage.ask('/page')).header('Cache-Status')).toContain('ttl=-91;');
  });

  test('strategy delete: expired is gone, and trouble is trouble', async () => {
    const stage = await setUp({ render: 'cache: {jitter: 0, expired: {strategy: delete}}' });
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(HOUR_MS);
    expect(await verdict(stage)).toBe('new v2 /page');
    stage.clock.advance(HOUR_MS);
    await stage.origin.close();
    expect((await stage.ask('/page')).status).toBe(502);
  });

  test('switching to delete counts for what is stored already', async () => {
    const stage = await setUp();
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(HOUR_MS);
    const text = 'render: {engine: origin, cache: {expired: {strategy: delete}}}\n';
    await stage.gateway.write({ gateway: text });
    await stage.gateway.reload();
    expect(await verdict(stage)).toBe('new v2 /page');
  });
});

describe('a stale page', () => {
  test('is served at once to all, and refreshed once', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stage = await setUp({
      origin: (_request, socket) => {
        if (version === 1) return page('v1');
        void gate.then(() => socket.write(page('v2')));
        return null;
      },
    });
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(HOUR_MS);
    const replies = await mapParallel(20, Array.from({ length: 100 }), () => stage.ask('/page'));
    expect(replies.every((reply) => reply.body === 'v1')).toBe(true);
    await waitUntil('the refresh is under way', () => stage.origin.requests.length === 2);
    release();
    await waitUntil('the refresh is there', async () => (await verdict(stage)) === 'hit v2');
    expect(stage.origin.requests.length).toBe(2);
  });

  test('survives failed refreshes, which come less and less often', async () => {
    let isBroken = false;
    const stage = await setUp({ origin: () => (isBroken ? 'no HTTP\r\n\r\n' : page('good')) });
    const failures = (): number =>
      stage.gateway.log.filter(({ msg }) => msg === 'page failed').length;
    await stage.ask('/page');
    isBroken = true;
    stage.clock.advance(HOUR_MS);
    const expectRefreshes = async (expected: number): Promise<void> => {
      for (let round = 1; round <= 3; round += 1) {
        expect(await verdict(stage)).toBe('stale good');
      }
      await waitUntil(`${expected} refreshes have failed`, () => failures() >= expected);
      expect(stage.origin.requests.length - 1).toBe(expected);
    };
    await expectRefreshes(1);
    for (const windowMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      const before = failures();
      stage.clock.advance(windowMs - 1);
      await expectRefreshes(before);
      stage.clock.advance(1);
      await expectRefreshes(before + 1);
    }
    isBroken = false;
    stage.clock.advance(MINUTE_MS);
    await waitUntil('it is well again', async () => (await verdict(stage)) === 'hit good');
  });

  test.each(['Cache-Control: no-store', 'Cache-Control: private', 'Set-Cookie: sid=1'])(
    'goes when the page may no longer be stored (%s)',
    async (line) => {
      const stage = await setUp({
        origin: () => (version === 1 ? page('v1') : page('v2', line)),
      });
      await stage.ask('/page');
      version = 2;
      stage.clock.advance(HOUR_MS);
      expect(await verdict(stage)).toBe('stale v1');
      await waitUntil('it is gone', async () => (await verdict(stage)) === 'new v2');
    },
  );

  test('stays when its renewal is refused, which is not tried at once again', async () => {
    const stage = await setUp({
      origin: () => (version === 1 ? page('v1') : answer(429, 'slow down')),
    });
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(HOUR_MS);
    expect(await verdict(stage)).toBe('stale v1');
    await waitUntil('the renewal is refused', () => stage.origin.requests.length === 2);
    const targets = Array.from({ length: 20 });
    const verdicts = await mapParallel(1, targets, () => verdict(stage));
    expect(new Set(verdicts)).toEqual(new Set(['stale v1']));
    expect(stage.origin.requests.length).toBe(2);
  });

  test('keeps its Last-Modified while its bytes stay the same', async () => {
    const stage = await setUp();
    const first = await stage.ask('/page');
    const refresh = async (body: string): Promise<string | null> => {
      stage.clock.advance(HOUR_MS);
      await stage.ask('/page');
      await waitUntil('refreshed', async () => (await verdict(stage)) === body);
      return (await stage.ask('/page')).header('Last-Modified');
    };
    expect(await refresh('hit v1 /page')).toBe(first.header('Last-Modified'));
    version = 2;
    expect(await refresh('hit v2 /page')).not.toBe(first.header('Last-Modified'));
  });
});

describe('how long', () => {
  const redirect = answer(301, '', 'Location: /elsewhere');
  const rows = [
    ['the default', page('x'), HOUR_MS],
    ['a redirect', redirect, 5 * MINUTE_MS],
    ['a missing page', answer(404, 'x', 'Content-Type: text/html'), 2 * MINUTE_MS],
    ['another client error of its class', answer(410, 'x', 'Content-Type: text/html'), MINUTE_MS],
    ['a server error', answer(500, 'x', 'Content-Type: text/html'), 30_000],
  ] as const;
  test.each(rows)('%s', async (_what, bytes, ttlMs) => {
    const stage = await setUp({
      render: 'cache: {jitter: 0, ttl_by_status: {301: 5m, 404: 2m, 4xx: 1m, 5xx: 30s}}',
      origin: () => bytes,
    });
    await stage.ask('/page');
    stage.clock.advance(ttlMs - 1);
    expect((await stage.ask('/page')).header('X-Render-Cache')).toBe('hit');
    stage.clock.advance(1);
    expect((await stage.ask('/page')).header('X-Render-Cache')).not.toBe('hit');
  });

  test('a status that is not listed, and a ttl of nothing, are not stored', async () => {
    const unlisted = await setUp({ origin: () => answer(403, 'x', 'Content-Type: text/html') });
    expect((await unlisted.ask('/')).header('Cache-Status')).toContain('detail=status');
    const nothing = await setUp({ render: 'cache: {ttl: 0}' });
    expect((await nothing.ask('/')).header('Cache-Status')).toContain('detail=ttl');
  });

  test('jitter spreads pages of one second within its bounds', async () => {
    const stage = await setUp({ render: 'cache: {ttl: 1000s, jitter: 0.2}' });
    const targets = Array.from({ length: 60 }, (_, index) => `/page/${index}`);
    await mapParallel(8, targets, (target) => stage.ask(target));
    const ttls = await mapParallel(8, targets, async (target) => {
      const reply = await stage.ask(target);
      return Number(/ttl=(-?\d+)/.exec(reply.header('Cache-Status') ?? '')?.[1]);
    });
    expect(Math.min(...ttls)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...ttls)).toBeLessThanOrEqual(1_200);
    expect(new Set(ttls).size).toBeGreaterThan(20);
  });
});

test('a soft purge makes a page stale: served once more, and renewed', async () => {
  const stage = await setUp();
  await stage.ask('/page');
  version = 2;
  stage.clock.advance(MINUTE_MS);
  const order = { url: 'https://site.test/page', soft: true };
  const { answer } = await postPurge(stage.gateway.adminPort, order);
  expect(answer).toMatchObject({ entries: 1 });
  expect(await verdict(stage)).toBe('stale v1 /page');
  await waitUntil('it is renewed', async () => (await verdict(stage)) === 'hit v2 /page');
});
