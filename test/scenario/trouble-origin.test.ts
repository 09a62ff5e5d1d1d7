// The trouble table, origin: stale if there is any, else 502 or 504 with a reason and no inner address.
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, BOT, HUMAN, page, type Reply, type Stage, setStage } from './stage.ts';

const HOUR_MS = 3_600_000;
const RENDER = 'timeout: 300ms\nsoft_timeout: 200ms\ncache: {jitter: 0}';

const setUp = (isSilent: () => boolean): Promise<Stage> =>
  setStage({
    hasTestClock: true,
    render: RENDER,
    gateway: 'bypass: {timeout: 300ms}\n',
    origin: () => (isSilent() ? null : page('good')),
  });

function expectTrouble(reply: Reply, status: number, error: string): void {
  expect(reply.status).toBe(status);
  expect(reply.header('Proxy-Status')).toMatch(new RegExp(`^edge-gateway[^;]*; *error=${error}`));
  expect(reply.head + reply.body).not.toMatch(/127\.0\.0\.1|ECONN/);
  expect(reply.body).toContain('request id: ');
  // Nothing was got, so nothing is new.
  expect(reply.header('X-Render-Cache')).not.toBe('new');
}

describe('an origin that is gone', () => {
  test.each([
    ['a crawler', BOT],
    ['a person', HUMAN],
  ])('is 502 for %s', async (_who, userAgent) => {
    const site = await setUp(() => false);
    await site.origin.close();
    expectTrouble(await site.ask('/page', { userAgent }), 502, 'connection_refused');
  });

  test('leaves the stale page', async () => {
    const site = await setUp(() => false);
    await site.ask('/page');
    await site.origin.close();
    site.clock.advance(2 * HOUR_MS);
    for (let round = 1; round <= 3; round += 1) {
      const reply = await site.ask('/page');
      expect([reply.status, reply.body]).toEqual([200, 'good']);
      expect(reply.header('X-Render-Cache')).toBe('stale');
    }
  });

  test('leaves the fresh page, and after its last day nothing', async () => {
    const site = await setUp(() => false);
    await site.ask('/page');
    await site.origin.close();
    expect((await site.ask('/page')).header('X-Render-Cache')).toBe('hit');
    site.clock.advance(26 * HOUR_MS);
    expectTrouble(await site.ask('/page'), 502, 'connection_refused');
  });
});

describe('an origin that is slow', () => {
  test.each([
    ['a crawler', BOT],
    ['a person', HUMAN],
  ])('is 504 for %s, in time', async (_who, userAgent) => {
    const site = await setUp(() => true);
    const reply = await site.ask('/page', { userAgent });
    expectTrouble(reply, 504, 'http_response_timeout');
    expect(reply.durationMs).toBeLessThan(3_000);
  });

  test('keeps no crawler from the stale page', async () => {
    let isSilent = false;
    const site = await setUp(() => isSilent);
    await site.ask('/page');
    isSilent = true;
    site.clock.advance(2 * HOUR_MS);
    const reply = await site.ask('/page');
    expect([reply.body, reply.header('X-Render-Cache')]).toEqual(['good', 'stale']);
    expect(reply.durationMs).toBeLessThan(300);
  });
});

test('an error in plain text is neither a page nor a file: the good page stays', async () => {
  let isBroken = false;
  const site = await setStage({
    hasTestClock: true,
    render: RENDER,
    origin: () => (isBroken ? answer(503, 'busy', 'Content-Type: text/plain') : page('good')),
  });
  await site.ask('/page');
  isBroken = true;
  site.clock.advance(2 * HOUR_MS);
  for (let round = 1; round <= 3; round += 1) {
    const reply = await site.ask('/page');
    expect([reply.body, reply.header('X-Render-Cache')]).toEqual(['good', 'stale']);
    site.clock.advance(90_000);
  }
  isBroken = false;
  await site.ask('/page');
  await waitUntil('the good page is renewed', async () => {
    return (await site.ask('/page')).header('X-Render-Cache') === 'hit';
  });
});
