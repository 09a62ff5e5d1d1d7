// kill -9 of the whole gateway while a crawler has it store a thousand pages, several times: after
// each restart no damaged page is served, and nobody has to repair anything.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { BOT, hostsText } from './stage.ts';

const PAGES = 1_000;
const AT_ONCE = 12;
const PATHS = Array.from({ length: PAGES }, (_, index) => `/page/${index}`);
const TIMEOUT_MS = 120_000;
/** Of the pages that are stored anew again and again. */
const RENEWED = 200;
/** Of one host: stale at once. */
const SHORT_LIVES = 'render: {cache: {ttl: 50ms, jitter: 0}}';

const sha = (bytes: string): string => createHash('sha256').update(bytes).digest('hex');

/** A page that tells whether it is whole: its last line is the hash of all before. */
function makePage(path: string, version: number): string {
  const words = `${path} version ${version} `.repeat(40 + (path.length % 7) * 60);
  const html = `<!doctype html>\n<title>${path}</title>\n<p>${words}</p>\n`;
  return `${html}${sha(html)}\n`;
}

function isWhole(body: string, path: string): boolean {
  const [, html = '', hash = ''] = /^([\s\S]*\n)([0-9a-f]{64})\n$/.exec(body) ?? [];
  return sha(html) === hash && html.includes(`<title>${path}</title>`);
}

interface Site {
  readonly url: string;
  asked: number;
  version: number;
  readonly close: () => void;
}

async function startSite(): Promise<Site> {
  const server = http.createServer((request, response) => {
    site.asked += 1;
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(makePage(request.url ?? '', site.version));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const site: Site = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: 0,
    version: 0,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  onTestFinished(site.close);
  return site;
}

interface ConfigTexts {
  readonly extra: string;
  readonly host?: string;
}

async function writeConfig(originUrl: string, texts: ConfigTexts): Promise<string> {
  const { extra, host = '' } = texts;
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-killed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'hosts.yaml'), hostsText(originUrl, { host }));
  const lines = [
    'server: {listen: "127.0.0.1:0"}',
    'admin: {listen: "127.0.0.1:0"}',
    'storage: {base_path: ./data}',
    'render: {engine: origin}',
    'log: {level: info}',
    extra,
  ];
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(file, lines.join('\n'));
  return file;
}

interface Census {
  hits: number;
  stale: number;
  stored: number;
  /** The connection broke: the gateway was killed. */
  broken: number;
  damaged: string[];
}

/** A crawler that asks for pages; `onAnswer` is told how many it has. */
async function crawl(
  port: number,
  paths: readonly string[],
  onAnswer: (count: number) => void = () => undefined,
): Promise<Census> {
  const census: Census = { hits: 0, stale: 0, stored: 0, broken: 0, damaged: [] };
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let count = 0;
  await mapParallel(AT_ONCE, paths, async (path) => {
    try {
      const { cache, body } = await ask(port, path, agent);
      if (!isWhole(body, path)) census.damaged.push(path);
      if (cache === 'hit') census.hits += 1;
      else if (cache === 'stale') census.stale += 1;
      else census.stored += 1;
      count += 1;
      onAnswer(count);
    } catch {
      census.broken += 1;
    }
  });
  agent.destroy();
  return census;
}

async function ask(
  port: number,
  path: string,
  agent: http.Agent,
): Promise<{ readonly cache: string; readonly body: string }> {
  const headers = { Host: 'site.test', 'User-Agent': BOT };
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, agent, headers }, resolve);
    request.on('error', reject);
    request.end();
  });
  return { cache: String(response.headers['x-render-cache']), body: await text(response) };
}

async function start(file: string): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(file);
  onTestFinished(gateway.kill);
  return gateway;
}

async function killAgainAndAgain(kills: number, extra: string): Promise<void> {
  const site = await startSite();
  const file = await writeConfig(site.url, { extra });
  for (let kill = 1; kill <= kills; kill += 1) {
    const gateway = await start(file);
    const killAt = kill * Math.floor(PAGES / (kills + 1)) + Math.floor(Math.random() * 100);
    site.version = kill;
    const census = await crawl(gateway.port, PATHS, (count) => {
      if (count === killAt) void gateway.kill();
    });
    expect(census.damaged).toEqual([]);
    expect(census.broken).toBeGreaterThan(0);
    expect(census.hits + census.stored).toBeGreaterThanOrEqual(killAt);
    // All but the last few had been answered, and so had been stored, before the kill before.
    if (kill > 1) expect(census.hits).toBeGreaterThan(100);
  }
  const last = await start(file);
  const rebuilt = await crawl(last.port, PATHS);
  expect([rebuilt.damaged, rebuilt.broken]).toEqual([[], 0]);
  expect(rebuilt.hits).toBeGreaterThan((kills * PAGES) / (kills + 1) - AT_ONCE * kills - 1);
  const before = site.asked;
  const some = PATHS.filter((_path, index) => index % 5 === 0);
  const again = await crawl(last.port, some);
  expect(again).toEqual({ hits: some.length, stale: 0, stored: 0, broken: 0, damaged: [] });
  expect(site.asked).toBe(before);
  expect(await last.stop()).toBe(0);
}

/**
 * A crawler asks for pages that are stale at once, so that all of them are being stored anew when
 * the gateway is killed; then there is no origin, and every page is as it was or as it was to be.
 */
async function killWhileRenewing(kills: number, extra: string): Promise<void> {
  const site = await startSite();
  const file = await writeConfig(site.url, { extra, host: SHORT_LIVES });
  const paths = PATHS.slice(0, RENEWED);
  let gateway = await start(file);
  expect(await crawl(gateway.port, paths)).toMatchObject({ stored: RENEWED, damaged: [] });
  for (let kill = 1; kill <= kills; kill += 1) {
    site.version = kill;
    const killAt = RENEWED + Math.floor(Math.random() * RENEWED);
    const census = await crawl(gateway.port, [...paths, ...paths, ...paths], (count) => {
      site.version += 1;
      if (count === killAt) void gateway.kill();
    });
    expect(census.damaged).toEqual([]);
    expect(census.broken).toBeGreaterThan(0);
    await gateway.kill();
    gateway = await start(file);
  }
  site.close();
  const left = await crawl(gateway.port, paths);
  expect(left).toEqual({ hits: 0, stored: 0, stale: RENEWED, broken: 0, damaged: [] });
  expect(gateway.log.filter(({ kind }) => kind === 'body_damaged')).toEqual([]);
}

describe('killed while storing a thousand pages', () => {
  test('in the embedded store', { timeout: TIMEOUT_MS }, async () => {
    await killAgainAndAgain(3, '');
  });

  test('in the embedded store, over its older versions', { timeout: TIMEOUT_MS }, async () => {
    await killWhileRenewing(4, '');
  });
});

describeWithRedis('killed while storing a thousand pages', () => {
  test('in Redis', { timeout: TIMEOUT_MS }, async () => {
    const redis = await startRedisServer();
    onTestFinished(redis.stop);
    await killAgainAndAgain(2, `redis: {url: "${redis.url}"}`);
  });

  test('with its bodies in files, over older versions', { timeout: TIMEOUT_MS }, async () => {
    const redis = await startRedisServer();
    onTestFinished(redis.stop);
    await killWhileRenewing(2, `redis: {url: "${redis.url}"}`);
  });
});
