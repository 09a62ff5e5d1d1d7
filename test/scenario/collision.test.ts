// 63, D01: two URLs with one hash, made on purpose. They never answer for each other, and none can be
// used to take the other out.
import { expect, test } from 'vitest';
import { page, type Stage, setStage } from './stage.ts';

const B = 'b'.repeat(24);
const FIRST = `/search?q=000JJrSJbFO${B}Sl4dpiwu${B}`;
const SECOND = `/search?q=000huMeli51${B}Ck8zt4Xl${B}`;
const KEY = 'cache:1:1:05bb2ffd0a6862b6';

const setUp = (): Promise<Stage> =>
  setStage({
    domain: 'example.com',
    hasTestClock: true,
    render: 'cache: {jitter: 0}',
    origin: ({ target }) => page(`page of ${target}`),
  });

const admin = async ({ gateway }: Stage, path: string, body?: unknown): Promise<string> => {
  const post = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const url = `http://127.0.0.1:${gateway.adminPort}${path}`;
  return await (await fetch(url, body === undefined ? {} : post)).text();
};

async function expectPage(stage: Stage, target: string, cache: string): Promise<void> {
  const reply = await stage.ask(target);
  expect([reply.body, reply.header('X-Render-Cache')]).toEqual([`page of ${target}`, cache]);
  expect(reply.header('Cache-Status')).toContain(`key="${KEY}"`);
}

test('each gets its own page; the fresh one stays; it is counted', async () => {
  const stage = await setUp();
  await expectPage(stage, FIRST, 'new');
  await expectPage(stage, SECOND, 'new');
  await expectPage(stage, SECOND, 'new');
  await expectPage(stage, FIRST, 'hit');
  expect(stage.origin.requests.length).toBe(3);
  const reply = await stage.ask(SECOND);
  expect(reply.header('Cache-Status')).toMatch(/fwd=uri-miss;.*detail=collision/);
  const metrics = await admin(stage, '/metrics');
  expect(Number(/key_collisions_total\{.*\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThanOrEqual(3);
});

test('once the first has expired, the second may have the place', async () => {
  const stage = await setUp();
  await expectPage(stage, FIRST, 'new');
  stage.clock.advance(2 * 3_600_000);
  await expectPage(stage, SECOND, 'new');
  await expectPage(stage, SECOND, 'hit');
  await expectPage(stage, FIRST, 'new');
});

test('a purge of one leaves the other', async () => {
  const stage = await setUp();
  await expectPage(stage, FIRST, 'new');
  const purge = (target: string): Promise<string> =>
    admin(stage, '/purge', { url: `https://example.com${target}` });
  expect(JSON.parse(await purge(SECOND))).toMatchObject({ entries: 0 });
  await expectPage(stage, FIRST, 'hit');
  expect(JSON.parse(await purge(FIRST))).toMatchObject({ entries: 1 });
  await expectPage(stage, SECOND, 'new');
  await expectPage(stage, SECOND, 'hit');
});

test('explain sees one as cached and not the other', async () => {
  const stage = await setUp();
  await expectPage(stage, FIRST, 'new');
  const explain = async (target: string): Promise<unknown> => {
    const query = new URLSearchParams({ url: `https://example.com${target}` });
    query.set('user_agent', 'Googlebot/2.1');
    return JSON.parse(await admin(stage, `/explain?${query.toString()}`));
  };
  expect(await explain(FIRST)).toMatchObject({ key: KEY, cached: 'fresh', would: 'serve' });
  expect(await explain(SECOND)).toMatchObject({ key: KEY, cached: 'absent', would: 'render' });
});
