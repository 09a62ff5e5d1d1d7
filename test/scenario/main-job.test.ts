// The main job on real input: thousands of dirty URLs asked by a crawler. The origin is asked exactly
// once a distinct page, everything else is a hit with the right body, also after a restart.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { mapParallel } from '../helpers/map-parallel.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';

interface Visit {
  readonly page: string;
  readonly host: string;
  readonly target: string;
}

interface Reply {
  readonly status: number;
  readonly cache: string;
  readonly body: string;
}

const visits: readonly Visit[] = readFileSync(new URL('dirty-urls.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [page = '', host = '', target = ''] = line.split('\t');
    return { page, host, target };
  });
const pages = new Set(visits.map(({ page }) => page));

const GATEWAY = `
render: {engine: origin}
tracking_params:
  presets: [utm, click_ids, email, social, analytics]
`;
const hosts = (port: number) => `
hosts:
  - {id: 1, domain: shop.example, origin: "http://127.0.0.1:${port}"}
`;

test('the recorded list is what it says', () => {
  expect(visits.length).toBeGreaterThanOrEqual(5_000);
  expect(pages.size).toBeGreaterThanOrEqual(400);
  const spellings = new Set(visits.map(({ host, target }) => `${host} ${target}`));
  expect(spellings.size).toBeGreaterThan(visits.length * 0.8);
});

describe('embedded store', () => {
  mainJob(async () => '');
});

describeWithRedis('Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(async () => {
    await redis.stop();
  });
  mainJob(async () => `redis: {url: "${redis.url}"}\n`);
});

function mainJob(extraConfig: () => Promise<string>): void {
  let origin: http.Server;
  let gateway: TestGateway;
  let asked: string[];
  const bodies = new Map<string, string>();

  beforeAll(async () => {
    asked = [];
    origin = http.createServer((request, response) => {
      asked.push(`${request.headers.host}${request.url}`);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><title>page</title><p>${request.headers.host}${request.url}`);
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    gateway = await startTestGateway({
      gateway: GATEWAY + (await extraConfig()),
      hosts: hosts(port),
    });
  });

  afterAll(async () => {
    await gateway.close();
    origin.close();
    origin.closeAllConnections();
  });

  test('the origin is asked once a page, and each answer is the right page', async () => {
    const replies = await crawl(gateway.port);
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    for (const [index, { page }] of visits.entries()) {
      const body = replies[index]?.body ?? '';
      if (!bodies.has(page)) bodies.set(page, body);
      expect(body, `${page} ${visits[index]?.target}`).toBe(bodies.get(page));
    }
    expect(new Set(bodies.values()).size).toBe(pages.size);
    expect(asked.length).toBe(pages.size);
    expect(new Set(asked).size).toBe(pages.size);
    const misses = replies.filter(({ cache }) => cache === 'new');
    const hits = replies.filter(({ cache }) => cache === 'hit');
    expect(hits.length + misses.length).toBe(visits.length);
    expect(hits.length).toBeGreaterThan(visits.length - pages.size * 3);
  }, 120_000);

  test('a restart changes nothing: every answer is a hit, the origin is not asked', async () => {
    await gateway.stop();
    const before = asked.length;
    const { folder } = gateway;
    const { port } = origin.address() as AddressInfo;
    gateway = await startTestGateway({
      folder,
      gateway: GATEWAY + (await extraConfig()),
      hosts: hosts(port),
    });
    const replies = await crawl(gateway.port);
    expect(replies.every(({ cache }) => cache === 'hit')).toBe(true);
    for (const [index, { page }] of visits.entries()) {
      expect(replies[index]?.body).toBe(bodies.get(page));
    }
    expect(asked.length).toBe(before);
  }, 120_000);
}

async function crawl(port: number): Promise<readonly Reply[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  try {
    return await mapParallel(16, visits, (visit) => ask(port, agent, visit));
  } finally {
    agent.destroy();
  }
}

function ask(port: number, agent: http.Agent, { host, target }: Visit): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { Host: host, 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' };
    const request = http.request(
      { host: '127.0.0.1', port, path: target, agent, headers },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => {
          const cache = response.headers['x-render-cache'];
          resolve({ status: response.statusCode ?? 0, cache: String(cache), body });
        });
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end();
  });
}
