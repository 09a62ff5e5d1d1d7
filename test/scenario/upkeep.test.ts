// Quota and sweep over a whole gateway: the disk stays within what was allowed, what is in use
// stays in the cache, and what has expired leaves the disk.
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Stage, setStage } from './stage.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TIMEOUT_MS = 60_000;
const QUOTA_BYTES = 256 * 1_024;

/** A page that no coding makes much smaller. */
const largePage = (): string => page(`<p>${randomBytes(9_000).toString('base64')}</p>`);

test('a small quota: pages in use stay, the others go', { timeout: TIMEOUT_MS }, async () => {
  const stage = await setStage({
    origin: largePage,
    hasTestClock: true,
    gateway: `storage:\n  max_bytes: ${QUOTA_BYTES / 1_024}KiB\n`,
    render: 'cache: {ttl: 7d}',
  });
  await stage.ask('/hot');
  const paths = Array.from({ length: 24 }, (_, i) => `/page/${i}`);
  for (const path of paths) {
    stage.clock.advance(5 * MINUTE_MS);
    await stage.ask(path);
    expect((await stage.ask('/hot')).header('X-Render-Cache')).toBe('hit');
  }
  await waitUntil('the store is within its quota', async () => {
    const bytes = await readMetric(stage, 'edge_gateway_stored_bytes{host="1"}');
    return hasLog(stage, 'evicted') && bytes > 0 && bytes <= QUOTA_BYTES;
  });
  expect(await askAll(stage, ['/hot'])).toEqual(['hit']);
  const recent = await askAll(stage, paths.slice(12).toReversed());
  expect(recent.filter((verdict) => verdict === 'hit').length).toBeGreaterThan(2);
  expect(await askAll(stage, paths.slice(0, 3))).toEqual(['new', 'new', 'new']);
  const evicted = await readMetric(stage, 'edge_gateway_removed_pages_total{reason="quota"}');
  expect(evicted).toBeGreaterThan(10);
});

test('a sweep: what has expired leaves the disk, the rest stays', {
  timeout: TIMEOUT_MS,
}, async () => {
  const stage = await setStage({
    hasTestClock: true,
    gateway: 'storage:\n  cleanup: {interval: 1s}\n',
    render: 'cache: {ttl: 1h, expired: {strategy: delete}}',
    host: 'url_rules: [{match: /long/*, action: render, render: {cache: {ttl: 7d}}}]',
  });
  for (const path of ['/short/1', '/short/2', '/long/1']) await stage.ask(path);
  expect(await storedFiles(stage)).toHaveLength(3);
  stage.clock.advance(DAY_MS);
  await waitUntil('two pages went', async () => (await storedFiles(stage)).length === 1);
  await waitUntil('a sweep was told', () => hasLog(stage, 'swept'));
  expect(await askAll(stage, ['/long/1', '/short/1'])).toEqual(['hit', 'new']);
  expect(await readMetric(stage, 'edge_gateway_removed_pages_total{reason="expired"}')).toBe(2);
  stage.clock.advance(-DAY_MS);
  expect(await askAll(stage, ['/long/1'])).not.toContain('new');
});

async function askAll(stage: Stage, paths: readonly string[]): Promise<(string | null)[]> {
  const verdicts = [];
  for (const path of paths) verdicts.push((await stage.ask(path)).header('X-Render-Cache'));
  return verdicts;
}

function hasLog({ gateway }: Stage, message: string): boolean {
  return gateway.log.some(({ msg }) => msg === message);
}

/** The identity files of pages. */
async function storedFiles({ gateway }: Stage): Promise<readonly string[]> {
  const names = readdirSync(join(gateway.folder, 'data', 'pages', '1'), {
    recursive: true,
    encoding: 'utf8',
  });
  return names.filter((name) => name.endsWith('.html'));
}

async function readMetric({ gateway }: Stage, name: string): Promise<number> {
  const url = `http://127.0.0.1:${gateway.adminPort}/metrics`;
  const metrics = await new Promise<string>((resolve, reject) => {
    get(url, (response) => void text(response).then(resolve, reject)).once('error', reject);
  });
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}
