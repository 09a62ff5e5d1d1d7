// Request, purge, explain and normalize agree on the key, whatever a URL's spelling: the answer's own
// Cache-Status is compared with all four, and a purge by another spelling takes the page out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../cli/run-command.ts';
import { mapParallel } from '../helpers/map-parallel.ts';
import { postPurge } from '../helpers/post-purge.ts';
import { BOT, keyOf, MOBILE_BOT, openStage, page } from './stage.ts';

const EVERY = 30;
const HOST = 'shop.example';

/** Spellings of recorded dirty URLs, and some that no site would write. */
const targets: readonly string[] = [
  ...readFileSync(new URL('dirty-urls.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .filter((_line, index) => index % EVERY === 0)
    .map((line) => line.split('\t')[2] ?? ''),
  '/a%2Fb?c=%26&c=%2B+',
  '/%7Euser/./x/../y//z/?=&&=v&k',
  '/%E4%B8%AD?%E4%B8%AD=%e6%96%87&utm_source=x',
  '/?a=1;b=2&a[]=3&A=4',
  '/%zz?%zz=%',
];
const urls = targets.map((target) => `https://${HOST}${target}`);

let stage: Awaited<ReturnType<typeof openStage>>;
let config: readonly string[];
beforeAll(async () => {
  stage = await openStage({
    domain: HOST,
    gateway: 'tracking_params: {presets: [utm, click_ids, email, social, analytics]}\n',
    host: 'url_rules: [{match: /kept/*, tracking_params: {strip: false}}]\n',
    origin: ({ target }) => page(`page of ${target}`),
  });
  config = ['-c', join(stage.gateway.folder, 'edge-gateway.yaml')];
});
afterAll(async () => {
  await stage.close();
});

interface Told {
  readonly key: string | null;
  readonly hash: string | null;
  readonly normalized: string | null;
  readonly action: string;
}

async function explain(url: string, userAgent: string): Promise<Told> {
  const query = new URLSearchParams({ url, user_agent: userAgent });
  const response = await fetch(
    `http://127.0.0.1:${stage.gateway.adminPort}/explain?${query.toString()}`,
  );
  return (await response.json()) as Told;
}

async function purgeByAdmin(body: unknown): Promise<unknown> {
  return (await postPurge(stage.gateway.adminPort, body)).answer;
}

test('request, explain and normalize name one key', async () => {
  expect(targets.length).toBeGreaterThan(190);
  const { stdout } = await runCommand(['normalize', '--json', ...config], {
    stdin: Readable.from(urls.map((url) => Buffer.from(`${url}\n`))),
  });
  const normalized = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);
  expect(normalized.length).toBe(urls.length);
  await mapParallel(8, [...targets.entries()], async ([index, target]) => {
    const [reply, told] = [await stage.ask(target), await explain(urls[index] ?? '', BOT)];
    const line = normalized[index];
    expect([target, reply.status]).toEqual([target, 200]);
    expect([target, told.normalized]).toEqual([target, line?.normalized]);
    expect([target, told.hash]).toEqual([target, line?.hash]);
    expect([target, keyOf(reply)]).toEqual([target, told.action === 'render' ? told.key : null]);
    expect(reply.header('X-Processed-URL')).toBe(told.normalized);
  });
});

test('the command explain tells the same as the admin API', async () => {
  for (const url of urls.filter((_url, index) => index % 40 === 0)) {
    const argv = ['explain', url, '--json', '--user-agent', MOBILE_BOT, ...config];
    const { stdout, status } = await runCommand(argv);
    expect([status, JSON.parse(stdout)]).toEqual([0, await explain(url, MOBILE_BOT)]);
  }
});

const SPELLINGS = [
  ['/p/a-b?x=1&y=2', `HTTPS://SHOP.example:443//p/./a%2Db?y=2&utm_source=z&x=1#frag`],
  ['/q?v=%2F', `http://shop.example/z/../q?v=/&`],
  ['/r', `shop.example/r?gclid=1`],
] as const;

test.each(SPELLINGS)('%s goes by another spelling, in all dimensions', async (target, spelling) => {
  const dimensions = [BOT, MOBILE_BOT];
  const caches = async (): Promise<readonly (string | null)[]> =>
    await mapParallel(1, dimensions, async (userAgent) =>
      (await stage.ask(target, { userAgent })).header('X-Render-Cache'),
    );
  const byCommand = async (...options: readonly string[]): Promise<unknown> =>
    JSON.parse((await runCommand(['purge', spelling, '--json', ...options, ...config])).stdout);
  await caches();
  const gone = { entries: 2, host: 1 };

  expect(await byCommand('--dry-run')).toMatchObject(gone);
  expect(await purgeByAdmin({ url: spelling, dry_run: true })).toMatchObject(gone);
  expect(await caches()).toEqual(['hit', 'hit']);

  expect(await byCommand()).toMatchObject(gone);
  expect(await caches()).toEqual(['new', 'new']);
  expect(await purgeByAdmin({ url: spelling })).toMatchObject(gone);
  expect(await purgeByAdmin({ url: spelling })).toMatchObject({ entries: 0 });
  expect(await caches()).toEqual(['new', 'new']);
});

test('a whole host goes, and nobody else’s page', async () => {
  await stage.ask('/one');
  const counted = await purgeByAdmin({ host: HOST, dry_run: true });
  expect((await stage.ask('/one')).header('X-Render-Cache')).toBe('hit');
  const { stdout } = await runCommand(['purge', '--host', HOST, '--json', ...config]);
  expect(counted).toMatchObject({ entries: expect.any(Number) });
  const id: unknown = expect.any(Number);
  expect(JSON.parse(stdout)).toEqual({ ...(counted as object), id, dry_run: false });
  expect((await stage.ask('/one')).header('X-Render-Cache')).toBe('new');
  expect(await purgeByAdmin({ host: 'other.example' })).toMatchObject({ error: {} });
});
