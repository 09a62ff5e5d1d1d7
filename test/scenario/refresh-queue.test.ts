// Pages got behind everyone's back: on a crawler's hit, by POST /recache, by POST /warm.
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  answer,
  askedFor,
  BOT,
  HUMAN,
  hostsText,
  MOBILE_BOT,
  page,
  type Question,
  type Stage,
  type StageOptions,
  setStage,
} from './stage.ts';

const MINUTE_MS = 60_000;
const BOTHIT = 'bothit_recache: {enabled: true, interval: 10m, match_ua: ["*Googlebot*"]}\n';

let version = 1;
const setUp = async (options: StageOptions = {}): Promise<Stage> => {
  version = 1;
  return await setStage({
    hasTestClock: true,
    render: 'refresh_share: 0\ncache: {jitter: 0}',
    origin: ({ target }) => page(`v${version} ${target}`),
    ...options,
  });
};

const bodyOf = async (stage: Stage, target: string, question?: Question): Promise<string> =>
  (await stage.ask(target, question)).body;

/** In one dimension, unless told otherwise. */
async function post(
  { gateway }: Stage,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const isPlain = typeof body === 'object' && body !== null;
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(isPlain ? { dimension: 'desktop', ...body } : body),
  });
  return { status: response.status, text: await response.text() };
}

/** `reason outcome detail` of the jobs that have been run. */
function jobs({ gateway }: Stage): readonly string[] {
  return gateway.log
    .filter(({ msg }) => msg === 'refresh')
    .map(({ reason, outcome, detail }) => [reason, outcome, detail].filter(Boolean).join(' '));
}

const jobsDone = async (stage: Stage, count: number): Promise<void> =>
  await waitUntil(`${count} jobs`, () => jobs(stage).length >= count);

describe('bothit_recache', () => {
  test('a hit on an old page asks for a new one, once in an interval', async () => {
    const stage = await setUp({ gateway: BOTHIT });
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(10 * MINUTE_MS - 1);
    expect(await bodyOf(stage, '/page')).toBe('v1 /page');
    stage.clock.advance(1);
    expect(await bodyOf(stage, '/page')).toBe('v1 /page');
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['bothit stored']);
    expect(await bodyOf(stage, '/page')).toBe('v2 /page');
    version = 3;
    stage.clock.advance(10 * MINUTE_MS - 1);
    expect(await bodyOf(stage, '/page')).toBe('v2 /page');
    expect(stage.origin.requests).toHaveLength(2);
  });

  // Who hits the old page, and how.
  test.each<[string, Question, string]>([
    ['nobody it is meant for', { userAgent: BOT.replace('Googlebot', 'bingbot') }, BOTHIT],
    ['a HEAD', { method: 'HEAD' }, BOTHIT],
    ['it is switched off', {}, ''],
  ])('no refresh: %s', async (_name, question, gateway) => {
    const stage = await setUp({ gateway });
    await stage.ask('/page', question.method === 'HEAD' ? {} : question);
    stage.clock.advance(11 * MINUTE_MS);
    expect((await stage.ask('/page', question)).header('X-Render-Cache')).toBe('hit');
    await post(stage, '/recache', { url: 'http://site.test/other' });
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['recache stored']);
  });

  test('a refresh that fails is not asked for again before the next interval', async () => {
    const stage = await setUp({
      gateway: BOTHIT,
      origin: () => (version === 1 ? page('fine') : answer(500, 'broken')),
    });
    await stage.ask('/page');
    version = 2;
    stage.clock.advance(11 * MINUTE_MS);
    await stage.ask('/page');
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['bothit later status_500']);
    expect(await bodyOf(stage, '/page')).toBe('fine');
    expect(stage.origin.requests).toHaveLength(2);
  });
});

describe('POST /recache', () => {
  test('a fresh page is got again while the old one is served', async () => {
    const stage = await setUp();
    await stage.ask('/page?b=2&a=1');
    version = 2;
    const { status, text } = await post(stage, '/recache', {
      url: 'http://site.test/page?a=1&b=2&utm_source=x',
    });
    expect([status, JSON.parse(text)]).toEqual([202, { accepted: 1, pages: 1, refused: [] }]);
    await jobsDone(stage, 1);
    expect(await bodyOf(stage, '/page?a=1&b=2')).toContain('v2');
    expect(jobs(stage)).toEqual(['recache stored']);
  });

  test('what is no page is refused, with the reason', async () => {
    const stage = await setUp({
      host: 'url_rules:\n  - {match: /private/*, action: bypass}\n  - {match: /gone, action: status_410}',
    });
    const { status, text } = await post(stage, '/recache', {
      urls: [
        'http://site.test/a',
        'http://elsewhere.test/',
        'no url',
        'http://site.test/private/x',
        'http://site.test/gone',
        'http://site.test/style.css',
      ],
    });
    expect(status).toBe(202);
    expect(JSON.parse(text)).toMatchObject({
      accepted: 1,
      refused: [
        { url: 'http://elsewhere.test/', reason: 'unknown_host' },
        { url: 'no url' },
        { url: 'http://site.test/private/x', reason: 'rule' },
        { url: 'http://site.test/gone', reason: 'status_rule' },
        { url: 'http://site.test/style.css', reason: 'not_a_page' },
      ],
    });
  });

  test.each<[string, unknown, number]>([
    ['unknown_dimension', { url: 'http://site.test/', dimension: 'nowhere' }, 422],
    ['either', { url: 'http://site.test/', urls: [] }, 400],
    ['a list of texts', { urls: [] }, 400],
    ['a list of texts', { urls: [1] }, 400],
    ['unknown field', { url: 'http://site.test/', priority: 1 }, 400],
    ['at most 1000', { urls: Array.from({ length: 1_001 }, () => '') }, 400],
    ['JSON object', 'text', 400],
  ])('refused: %s', async (words, body, status) => {
    const stage = await setUp();
    const reply = await post(stage, '/recache', body);
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(words);
  });

  test('a page that may not be kept any more goes', async () => {
    const stage = await setUp({
      origin: () => page(`v${version}`, ...(version === 1 ? [] : ['Cache-Control: no-store'])),
    });
    await stage.ask('/page');
    version = 2;
    await post(stage, '/recache', { url: 'http://site.test/page' });
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['recache unstored no_store']);
    expect(await bodyOf(stage, '/page')).toBe('v2');
  });

  test('the configuration of the time when its turn comes is what counts', async () => {
    let letGo = (): void => undefined;
    const stage = await setUp({
      origin: ({ target }, socket) => {
        if (target !== '/slow') return page(target);
        letGo = () => void socket.write(page(target));
        return null;
      },
    });
    await post(stage, '/recache', { urls: ['http://site.test/slow', 'http://site.test/a'] });
    await waitUntil('the first is got', () => stage.origin.requests.length === 1);
    const host = 'url_rules:\n  - {match: /a, action: bypass}';
    await stage.gateway.write({ hosts: hostsText(stage.origin.url, { host }) });
    expect(await stage.gateway.reload()).toBe(true);
    letGo();
    await jobsDone(stage, 2);
    expect(jobs(stage)).toEqual(['recache stored', 'recache dropped rule']);
    expect(askedFor(stage.origin)).toEqual(['GET /slow']);
  });

  test('clients go first: a full renderer puts the job off', async () => {
    const stage = await setUp({ engine: 'service', render: 'refresh_share: 0' });
    stage.renderer.script('*', { kind: 'full' });
    await post(stage, '/recache', { url: 'http://site.test/page' });
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['recache later renderer_full']);
    stage.renderer.script('*', { kind: 'page', html: '<p>room' });
    await jobsDone(stage, 2);
    expect(jobs(stage)).toEqual(['recache later renderer_full', 'recache stored']);
  }, 20_000);
});

test('all dimensions that are rendered, unless one is named', async () => {
  const stage = await setUp();
  const url = 'http://site.test/page';
  const { text } = await post(stage, '/recache', { url, dimension: null });
  expect(JSON.parse(text)).toEqual({ accepted: 1, pages: 2, refused: [] });
  await jobsDone(stage, 2);
  for (const userAgent of [BOT, MOBILE_BOT]) {
    expect((await stage.ask('/page', { userAgent })).header('X-Render-Cache')).toBe('hit');
  }
});

describe('POST /warm', () => {
  test('tells of each page when it is there', async () => {
    const stage = await setUp({
      origin: ({ target }) => (target === '/broken' ? page('x', 'Set-Cookie: a=1') : page(target)),
    });
    await stage.ask('/fresh');
    const { status, text } = await post(stage, '/warm', {
      urls: [
        'http://site.test/fresh',
        'http://site.test/new',
        'http://site.test/broken',
        'http://elsewhere.test/',
      ],
    });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(status).toBe(200);
    expect(lines).toHaveLength(4);
    const reports = new Map(lines.map((line) => [line.url, line]));
    const one = (outcome: string, detail: string | null): unknown => [
      expect.objectContaining({ outcome, detail }),
    ];
    expect(reports.get('http://site.test/fresh').pages).toEqual(one('fresh', null));
    expect(reports.get('http://site.test/new').pages).toEqual(one('stored', null));
    expect(reports.get('http://site.test/broken').pages).toEqual(one('unstored', 'set_cookie'));
    expect(reports.get('http://elsewhere.test/').refused).toBe('unknown_host');
    expect((await stage.ask('/new')).header('X-Render-Cache')).toBe('hit');
    expect(await bodyOf(stage, '/new', { userAgent: HUMAN })).toBe('/new');
  });

  test('a failure that is stored is not fresh: it is got again, and again at the retry', async () => {
    const stage = await setUp({
      origin: () => (version < 3 ? answer(500, 'broken', 'Content-Type: text/html') : page('fine')),
    });
    await stage.ask('/page');
    const warming = post(stage, '/warm', { url: 'http://site.test/page' });
    await jobsDone(stage, 1);
    expect(jobs(stage)).toEqual(['warm later status_500']);
    expect(stage.origin.requests).toHaveLength(2);
    version = 3;
    const { text } = await warming;
    const url = 'http://site.test/page';
    const retry = { dimension: 'desktop', detail: 'status_500', delay_ms: 5_000 };
    expect(JSON.parse(text.split('\n')[0] ?? '')).toEqual({ url, retry });
    expect(text).toContain('"outcome":"stored"');
    expect(stage.origin.requests).toHaveLength(3);
  }, 20_000);

  test('one try is no retry', async () => {
    const stage = await setUp({ origin: () => answer(500, 'x', 'Content-Type: text/html') });
    const { text } = await post(stage, '/warm', { url: 'http://site.test/page', tries: 1 });
    expect(text.trim().split('\n')).toHaveLength(1);
    expect(text).toContain('"outcome":"failed"');
    expect(jobs(stage)).toEqual(['warm failed status_500']);
  });

  test('ends with the gateway', async () => {
    const stage = await setUp({ engine: 'service', render: 'refresh_share: 0' });
    stage.renderer.script('*', { kind: 'full' });
    const warming = post(stage, '/warm', { url: 'http://site.test/page' });
    await jobsDone(stage, 1);
    await stage.gateway.stop();
    expect((await warming).text).toContain('"detail":"stopping"');
  });
});

test('a body that is not said to be JSON: what to send', async () => {
  const { gateway } = await setUp();
  const url = `http://127.0.0.1:${gateway.adminPort}/purge`;
  const body = new URLSearchParams({ url: 'http://site.test/' });
  const response = await fetch(url, { method: 'POST', body });
  expect(response.status).toBe(415);
  expect(await response.text()).toContain('content-type: application/json');
});

test('counted and shown', async () => {
  const stage = await setUp();
  await post(stage, '/recache', { url: 'http://site.test/page' });
  await jobsDone(stage, 1);
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/metrics`);
  const text = await response.text();
  expect(text).toContain('edge_gateway_refresh_jobs_total{reason="recache",outcome="stored"} 1');
  expect(text).toContain('edge_gateway_refresh_queue_jobs{state="waiting"} 0');
});
