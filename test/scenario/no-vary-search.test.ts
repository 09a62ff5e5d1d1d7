// No-Vary-Search over the real gateway: what an origin says about its parameters becomes part of the
// key, in every process and for every tool; a purge means what was stored before, too.
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { answer, ask, askedFor, BOT, page, type Reply, type Stage, setStage } from './stage.ts';

const SID = 'No-Vary-Search: params=("sid")';
const HTML = 'Content-Type: text/html';

interface Learning extends Stage {
  /** Header lines of every answer from now on. */
  readonly say: (...lines: readonly string[]) => void;
}

/** A stage whose origin says things about its parameters. */
async function setLearningStage(mode: string, more = ''): Promise<Learning> {
  let lines: readonly string[] = [SID];
  const stage = await setStage({
    gateway: 'server:\n  workers: 1\n',
    host: `normalization: {no_vary_search: ${mode}${more}}`,
    origin: ({ target }) => page(`page of ${target}`, ...lines),
  });
  return {
    ...stage,
    say: (...next) => {
      lines = next;
    },
  };
}

const brief = (reply: Reply): string => `${reply.header('X-Render-Cache')} ${reply.body}`;

async function briefs(stage: Stage, ...targets: readonly string[]): Promise<readonly string[]> {
  const all: string[] = [];
  for (const target of targets) all.push(brief(await stage.ask(target)));
  return all;
}

async function callAdmin(stage: Stage, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  return await response.json();
}

const configOf = (stage: Stage): string => join(stage.gateway.folder, 'edge-gateway.yaml');

describe('learn', () => {
  test('what doesn’t matter is no longer in the key, nor sent to the page source', async () => {
    const stage = await setLearningStage('learn');
    expect(
      await briefs(stage, '/list?a=1&sid=1', '/list?sid=2&a=1', '/list?a=1&sid=3', '/list?a=1'),
    ).toEqual([
      'new page of /list?a=1&sid=1',
      'new page of /list?a=1',
      'hit page of /list?a=1',
      'hit page of /list?a=1',
    ]);
    expect(await briefs(stage, '/list?a=2&sid=1', '/other?sid=1', '/other?sid=1')).toEqual([
      'new page of /list?a=2',
      'new page of /other?sid=1',
      'new page of /other',
    ]);
    expect((await stage.ask('/list?SID=1')).body).toBe('page of /list?SID=1');
  });

  test.each([
    ['params, except=("a")', '/list?b=1&a=1&c', 'page of /list?a=1'],
    ['except=()', '/list?b=1&a=1', 'page of /list'],
    ['key-order, params=("b")', '/list?c=1&b&a=1', 'page of /list?a=1&c=1'],
    ['params=("%C3%A9+x")', '/list?%c3%a9%20x=1&a', 'page of /list?a'],
    ['params=(sid)', '/list?sid=1', 'page of /list?sid=1'],
    ['params=("sid"', '/list?sid=1', 'page of /list?sid=1'],
  ])('%s', async (header, target, body) => {
    const stage = await setLearningStage('learn');
    stage.say(`No-Vary-Search: ${header}`);
    await stage.ask('/list?first');
    expect((await stage.ask(target)).body).toBe(body);
  });

  test('the order of names counts until the origin says that it doesn’t', async () => {
    const stage = await setLearningStage('learn', ', sort_query: false');
    expect((await stage.ask('/list?b=1&a=1')).body).toBe('page of /list?b=1&a=1');
    stage.say('No-Vary-Search: key-order');
    await stage.ask('/list?b=2');
    expect((await stage.ask('/list?b=1&a=1')).body).toBe('page of /list?a=1&b=1');
  });

  test('an answer that no longer says it ends it', async () => {
    const stage = await setLearningStage('learn');
    await stage.ask('/list?sid=1');
    stage.say();
    expect(await briefs(stage, '/list?sid=2', '/list?sid=3')).toEqual([
      'new page of /list',
      'new page of /list?sid=3',
    ]);
  });

  test.each([
    ['an error', answer(404, 'x', HTML, SID)],
    ['a redirect', answer(302, '', 'Location: /elsewhere', SID)],
  ])('nothing is learned from %s', async (_what, first) => {
    let next = first;
    const host = 'normalization: {no_vary_search: learn}';
    const stage = await setStage({ host, origin: () => next });
    await stage.ask('/list?sid=1');
    next = page('a page');
    await stage.ask('/list?sid=2');
    expect(askedFor(stage.origin)).toEqual(['GET /list?sid=1', 'GET /list?sid=2']);
  });

  test('nothing is learned from an answer that one client’s headers made', async () => {
    const stage = await setStage({
      host: 'normalization: {no_vary_search: learn}\nheaders: {safe_request: [X-Try]}',
      origin: ({ head, target }) =>
        page(`page of ${target}`, ...(/^x-try:/im.test(head) ? [SID] : [])),
    });
    await stage.ask('/list?sid=1', { headers: ['X-Try: 1'] });
    expect((await stage.ask('/list?sid=2')).body).toBe('page of /list?sid=2');
  });

  test.each(['off', 'emit'])('a host that says %s learns nothing', async (mode) => {
    const stage = await setLearningStage(mode);
    await stage.ask('/list?sid=1');
    expect((await stage.ask('/list?sid=2')).body).toBe('page of /list?sid=2');
  });
});

test('explain, normalize and the admin API know the rule, and where it came from', async () => {
  const stage = await setLearningStage('learn');
  await stage.ask('/list?a=1&sid=1');
  await stage.ask('/list?a=1');
  const url = 'https://site.test/list?sid=7&a=1';
  const told = await callAdmin(
    stage,
    `/explain?${new URLSearchParams({ url, user_agent: BOT }).toString()}`,
  );
  expect(told).toMatchObject({
    normalized: 'https://site.test/list?a=1',
    steps: expect.arrayContaining([{ step: 'learned', before: 'sid=7&a=1', after: 'a=1' }]),
    stripped: [{ name: 'sid', pattern: 'params=("sid")', level: 'learned' }],
    learned: {
      rule: 'params=("sid")',
      for: 'https://site.test/list',
      from: 'https://site.test/list?a=1&sid=1',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
    cached: 'fresh',
  });
  const config = ['-c', configOf(stage)];
  const explained = await runCommand(['explain', url, '--json', '--user-agent', BOT, ...config]);
  expect(JSON.parse(explained.stdout)).toEqual(told);
  const { stdout } = await runCommand(['explain', url, ...config]);
  expect(stdout).toContain('learned    params=("sid") for https://site.test/list (from https://');
  const normalized = await runCommand(['normalize', ...config], {
    stdin: Readable.from([Buffer.from(`${url}\n`)]),
  });
  expect(normalized.stdout).toMatch(/^[0-9a-f]{16}\thttps:\/\/site\.test\/list\?a=1\n$/);
});

test('another process on the same store has the same keys at once, and after a start', async () => {
  const stage = await setLearningStage('learn');
  const other = await startGatewayProcess(configOf(stage));
  onTestFinished(other.kill);
  await stage.ask('/list?a=1&sid=1');
  await stage.ask('/list?a=1&sid=2');
  expect(brief(await ask(other.port, '/list?a=1&sid=3'))).toBe('hit page of /list?a=1');
  await ask(other.port, '/there?sid=1');
  expect((await stage.ask('/there?sid=2')).body).toBe('page of /there');
  const late = await startGatewayProcess(configOf(stage));
  onTestFinished(late.kill);
  expect(brief(await ask(late.port, '/list?a=1&sid=4'))).toBe('hit page of /list?a=1');
}, 60_000);

describeWithRedis('machines that share Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.stop());

  test('learn from each other', async () => {
    const store = `server:\n  workers: 1\nredis: {url: "${redis.url}"}\n`;
    const host = 'normalization: {no_vary_search: learn}';
    const origin = (): string => page('a page', SID);
    const [one, other] = [
      await setStage({ gateway: store, host, origin }),
      await setStage({ gateway: store, host, origin }),
    ];
    await one.ask('/list?sid=1');
    expect((await one.ask('/list?sid=2')).header('X-Processed-URL')).toMatch(/list$/);
    // Explaining fetches nothing, so that it can have learned only from the first.
    const query = new URLSearchParams({ url: 'https://site.test/list?sid=3', user_agent: BOT });
    await waitUntil('the other one knows', async () => {
      const told = await callAdmin(other, `/explain?${query.toString()}`);
      return JSON.stringify(told).includes('"normalized":"https://site.test/list"');
    });
  }, 60_000);
});

describe('a purge by URL', () => {
  const ORDERS = ['admin', 'command'] as const;

  async function purge(stage: Stage, by: (typeof ORDERS)[number], url: string): Promise<unknown> {
    if (by === 'admin') return await callAdmin(stage, '/purge', { url });
    return JSON.parse((await runCommand(['purge', url, '--json', '-c', configOf(stage)])).stdout);
  }

  test.each(ORDERS)('means what was stored before the rule was learned (%s)', async (by) => {
    const stage = await setLearningStage('learn');
    stage.say();
    await briefs(stage, '/list?a=1&sid=1', '/list?a=1&sid=2', '/list?a=2&sid=1', '/more?sid=1');
    stage.say(SID);
    await briefs(stage, '/list?a=1&sid=3', '/list?a=1&sid=4');
    const report = await purge(stage, by, 'https://site.test/list?sid=9&a=1');
    expect(report).toMatchObject({ entries: 4 });
    expect(await purge(stage, by, 'https://site.test/list?a=1')).toMatchObject({ entries: 0 });
    // The rule ends, and the old keys are asked for again.
    stage.say();
    expect(await briefs(stage, '/list?a=1&sid=5', '/list?a=1&sid=1', '/list?a=2&sid=1')).toEqual([
      'new page of /list?a=1',
      'new page of /list?a=1&sid=1',
      'hit page of /list?a=2&sid=1',
    ]);
  });
});

describe('emit', () => {
  const DEFAULTS =
    'key-order, params=("utm_source" "utm_content" "utm_medium" "utm_campaign" "utm_term" "gclid"' +
    ' "fbclid" "msclkid" "_ga" "_gl" "mc_cid" "mc_eid" "_ke" "ref" "referrer")';

  test.each([
    ['', DEFAULTS],
    [
      'tracking_params: {params: [a, "b*", ~c, "é", "x y"]}',
      'key-order, params=("a" "%C3%A9" "x%20y")',
    ],
    ['tracking_params: {params_keep: [id, page]}', 'key-order, params, except=("id" "page")'],
    ['tracking_params: {params_keep: ["id*", page]}', 'key-order'],
    ['tracking_params: {strip: false}', 'key-order'],
  ])('%s', async (lines, expected) => {
    const host = `normalization: {no_vary_search: emit}\n${lines}`;
    const stage = await setStage({ host });
    for (const reply of [await stage.ask('/page'), await stage.ask('/page')]) {
      expect(reply.headers('No-Vary-Search')).toEqual([expected]);
    }
  });

  test('says nothing where nothing can be said', async () => {
    const host =
      'normalization: {no_vary_search: emit, sort_query: false}\ntracking_params: {params: []}';
    const stage = await setStage({ host });
    expect((await stage.ask('/page')).headers('No-Vary-Search')).toEqual([]);
  });

  test('an origin’s own word goes first, on every hit', async () => {
    const stage = await setLearningStage('emit');
    for (const reply of [await stage.ask('/page'), await stage.ask('/page')]) {
      expect(reply.headers('No-Vary-Search')).toEqual(['params=("sid")']);
    }
  });

  test.each(['off', 'learn'])('a host that says %s sends none', async (mode) => {
    const stage = await setStage({ host: `normalization: {no_vary_search: ${mode}}` });
    expect((await stage.ask('/page')).headers('No-Vary-Search')).toEqual([]);
  });
});
