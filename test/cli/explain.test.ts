// `explain`: the published shape, every kind of plan, and what the store has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, setStage } from '../scenario/stage.ts';
import { runCommand, withFiles } from './run-command.ts';
import { type StoredPages, storePages } from './stored-pages.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const PUBLISHED_KEYS =
  'input normalized hash error host dimension rule action reason key file steps stripped tracking cached would'.split(
    ' ',
  );
const ADDED_KEYS = 'status location bot learned may_keep not_kept downstream dropped partial'.split(
  ' ',
);

let stored: StoredPages;

beforeAll(async () => {
  stored = await storePages();
  await stored.gateway.stop();
});
afterAll(() => stored.close());

async function explain(...argv: readonly string[]) {
  const { status, stdout, stderr } = await runCommand(['explain', ...argv, ...stored.config]);
  const isNoUrl = /^error |"error":"/m.test(stdout);
  expect({ status, stderr }).toEqual({ status: isNoUrl ? 1 : 0, stderr: '' });
  return stdout;
}

async function explainJson(...argv: readonly string[]) {
  return JSON.parse(await explain(...argv, '--json'));
}

test('--json has exactly the published shape', async () => {
  const url = 'https://Shop.example/products?gclid=1&color=blue';
  const explanation = await explainJson(url);
  // `status` and `location` say what a status answer would be, `bot` whose crawler it says it is,
  // `learned` what the origin has said about the parameters, `may_keep` and `not_kept` whether an
  // answer may be kept, and why the last one was not, `downstream` what caches in front are told,
  // `dropped` what no tracking parameter is.
  expect(Object.keys(explanation).toSorted()).toEqual(
    [...PUBLISHED_KEYS, ...ADDED_KEYS].toSorted(),
  );
  const { key, hash, tracking } = explanation;
  expect(explanation).toMatchObject({
    input: url,
    normalized: 'https://shop.example/products?color=blue',
    error: null,
    host: { id: 1, domain: 'shop.example' },
    dimension: { id: 1, name: 'desktop', matched_by: expect.stringContaining('Googlebot') },
    rule: null,
    action: 'render',
    reason: 'dimension',
    file: `${hash}_1.html`,
    steps: [
      { step: 'host', before: 'Shop.example', after: 'shop.example' },
      { step: 'strip', before: 'gclid=1&color=blue', after: 'color=blue' },
    ],
    stripped: [{ name: 'gclid', pattern: 'gclid', level: 'default' }],
    cached: 'fresh',
    partial: false,
    would: 'serve',
  });
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(key).toBe(`cache:1:1:${hash}`);
  expect(tracking.strip).toBe(true);
  expect(tracking.patterns).toContainEqual({ pattern: 'gclid', level: 'default' });
});

describe('every kind of plan', () => {
  // Arguments → what the explanation has.
  const CASES: readonly (readonly [string, readonly string[], object])[] = [
    [
      'a crawler’s page that is not stored',
      ['https://shop.example/blog/1'],
      { action: 'render', reason: 'dimension', cached: 'absent', would: 'render' },
    ],
    [
      'a person',
      ['https://shop.example/blog', '--user-agent', FIREFOX],
      {
        dimension: { id: 0, name: 'bypass', matched_by: null },
        action: 'bypass',
        reason: 'unmatched_dimension',
        would: 'bypass',
      },
    ],
    [
      'a blocked client',
      ['https://shop.example/blog', '-A', 'EvilScraper/1'],
      { action: 'status', reason: 'block_dimension', status: 403, would: 'status' },
    ],
    [
      'a rule that bypasses, whatever the spelling',
      ['https://shop.example/%63art/1'],
      {
        rule: { id: 'basket', match: '/cart/*', action: 'bypass' },
        action: 'bypass',
        reason: 'rule',
      },
    ],
    [
      'a rule that answers',
      ['https://shop.example/gone/1'],
      { rule: { id: 'rule_3' }, action: 'status', reason: 'status_rule', status: 410 },
    ],
    [
      'a rule that redirects',
      ['https://shop.example/old'],
      { reason: 'status_rule', status: 301, location: '/new' },
    ],
    [
      'a canonical redirect, its query untouched',
      ['https://www.shop.example/blog?utm_source=a'],
      {
        normalized: 'https://shop.example/blog',
        reason: 'canonical_redirect',
        status: 308,
        location: 'https://shop.example/blog?utm_source=a',
      },
    ],
    [
      'a signed URL',
      ['https://shop.example/report?X-Amz-Signature=abc'],
      { action: 'bypass', reason: 'signed_url', key: null, file: null, would: 'bypass' },
    ],
    [
      'a file that is no page',
      ['https://shop.example/app.js'],
      { action: 'bypass', reason: 'not_a_page' },
    ],
    [
      'another method',
      ['https://shop.example/blog', '--method', 'post'],
      { action: 'bypass', reason: 'method' },
    ],
    [
      'an unknown host: the global policy',
      ['https://unknown.example/?b=1&gclid=2&a=3'],
      {
        normalized: 'https://unknown.example/?a=3&b=1',
        host: null,
        dimension: null,
        key: null,
        file: null,
        stripped: [{ name: 'gclid', pattern: 'gclid', level: 'default' }],
        status: 421,
        cached: 'unknown',
      },
    ],
    [
      'what is no URL',
      ['https://user@shop.example/'],
      { normalized: null, hash: null, error: 'credentials', status: 400, tracking: null },
    ],
  ];

  test.each(CASES)('%s', async (_name, argv, expected) => {
    expect(await explainJson(...argv)).toMatchObject(expected);
    // The text says the same action and reason.
    const { action, reason } = await explainJson(...argv);
    expect(await explain(...argv)).toMatch(
      new RegExp(`^action +${action}, because: ${reason}$`, 'm'),
    );
  });
});

test('the text is one fact a line', async () => {
  const text = await explain('https://shop.example/%70roducts?utm_source=a&color=blue');
  expect(text.split('\n').map((line) => line.trim().split(' ', 1)[0])).toEqual([
    'input',
    'path_encoding',
    'strip',
    'stripped',
    'normalized',
    'hash',
    'host',
    'dimension',
    'bot',
    'rule',
    'action',
    'key',
    'file',
    'cached',
    'would',
    'downstream',
    '',
  ]);
  expect(text).toContain('  stripped   utm_source (pattern utm_source, default)\n');
  expect(text).toMatch(/^cached +fresh$/m);
  expect(text).toMatch(/^downstream +private: no cache in front keeps the page$/m);
});

test.each([
  ['kept', '{ enabled: true }', true],
  ['only passed on', '{ enabled: false }', false],
])('the text has key and file of what is %s: a person’s page', async (_what, cache, isKept) => {
  const files = {
    'edge-gateway.yaml': `render: { engine: origin }\nbypass: { cache: ${cache} }\n`,
    'hosts.yaml': 'hosts:\n  - { id: 1, domain: shop.example }\n',
  };
  await withFiles(files, async (folder) => {
    const argv = ['https://shop.example/blog', '-A', FIREFOX, '-c', `${folder}/edge-gateway.yaml`];
    const { stdout } = await runCommand(['explain', ...argv]);
    expect(/^key +cache:1:0:[0-9a-f]{16}\nfile +[0-9a-f]{16}_0/m.test(stdout)).toBe(isKept);
    expect(/^(key|file) /m.test(stdout)).toBe(isKept);
    expect(/^no key +passed on and not kept, because: unmatched_dimension$/m.test(stdout)).toBe(
      !isKept,
    );
    expect(/^would +bypass, and keep the answer /m.test(stdout)).toBe(isKept);
  });
});

test('what is left out for its value is listed, also where nothing is stripped', async () => {
  const files = {
    'edge-gateway.yaml': 'render: { engine: origin }\n',
    'hosts.yaml': `hosts:
  - id: 1
    domain: shop.example
    tracking_params: { strip: false }
    normalization: { default_values: { page: "1" }, empty_values: drop }
`,
  };
  await withFiles(files, async (folder) => {
    const url = 'https://shop.example/list?page=1&utm_source=a&q=&sort=x';
    const argv = ['explain', url, '-c', `${folder}/edge-gateway.yaml`];
    expect(JSON.parse((await runCommand([...argv, '--json'])).stdout)).toMatchObject({
      normalized: 'https://shop.example/list?sort=x&utm_source=a',
      stripped: [],
      dropped: [
        { name: 'page', reason: 'default_value' },
        { name: 'q', reason: 'empty_value' },
      ],
    });
    const { stdout } = await runCommand(argv);
    expect(stdout).toContain('  dropped    page (equals normalization.default_values)\n');
    expect(stdout).toContain('  dropped    q (has no value)\n');
  });
});

test('a page marked stale is refreshed, and the other dimension of it too', async () => {
  const url = 'https://shop.example/products?color=red';
  await runCommand(['purge', '--soft', url, ...stored.config]);
  expect(await explainJson(url)).toMatchObject({ cached: 'stale', would: 'refresh' });
});

test('a store that cannot be asked is unknown, not absent', async () => {
  const files = {
    'edge-gateway.yaml': 'render: { engine: origin }\nredis: { url: "redis://127.0.0.1:1" }\n',
    'hosts.yaml': 'hosts:\n  - { id: 1, domain: shop.example }\n',
  };
  await withFiles(files, async (folder) => {
    const { status, stdout } = await runCommand([
      'explain',
      'https://shop.example/blog',
      '--json',
      '-c',
      `${folder}/edge-gateway.yaml`,
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ cached: 'unknown', would: 'render' });
  });
});

test('what is passed on and kept: the command says what the admin API says', async () => {
  const bypass = 'bypass: {cache: {enabled: true, ttl: 1h}}';
  const { gateway, ask } = await setStage({ host: bypass, origin: () => answer(200, 'kept') });
  const explainBoth = async (target: string): Promise<unknown> => {
    const url = `https://site.test${target}`;
    const asked = new URLSearchParams({ url, user_agent: FIREFOX });
    const response = await fetch(
      `http://127.0.0.1:${gateway.adminPort}/explain?${asked.toString()}`,
    );
    const file = `${gateway.folder}/edge-gateway.yaml`;
    const { stdout } = await runCommand(['explain', url, '-A', FIREFOX, '--json', '-c', file]);
    expect(JSON.parse(stdout)).toEqual(await response.json());
    return JSON.parse(stdout);
  };
  await ask('/app.js', { userAgent: FIREFOX });
  await waitUntil('it is stored', async () => {
    const reply = await ask('/app.js', { userAgent: FIREFOX });
    return reply.header('X-Render-Cache') === 'hit';
  });
  const key = expect.stringMatching(/^cache:1:0:/);
  expect(await explainBoth('/app.js')).toMatchObject({ key, cached: 'fresh', would: 'serve' });
  expect(await explainBoth('/other')).toMatchObject({
    key,
    cached: 'absent',
    would: 'bypass',
    may_keep: true,
  });
});
