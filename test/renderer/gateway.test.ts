// The whole way with a real Chromium: crawler → gateway → its own render service → browser → origin.
// What is rendered and what never is (cases G1, G2), and what is left when a part is killed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { answer, app } from '../page-zoo/pages/page.ts';
import { openZoo, type Zoo, type ZooPages } from '../page-zoo/zoo.ts';
import { startGatewayProcess } from '../scenario/gateway-process.ts';
import { ask, BOT, HUMAN, hostsText, type Reply } from '../scenario/stage.ts';
import { foldersOf } from './browser-life.ts';
import { listOffspring, stillRunning } from './process-tree.ts';
import { describeWithChromium, ZOO_HOST } from './test-renderer.ts';

const RENDER = `render:
  engine: chromium
  chromium: {tabs: 2}
  timeout: 30s
  soft_timeout: 20s
`;
/** Starting a program from source and a browser, on a busy machine. */
const DEADLINE_MS = 100_000;
const TIMEOUT = { timeout: 3 * DEADLINE_MS };
const PAUSE_MS = 100;

const SITEMAP = '<?xml version="1.0"?><urlset></urlset>';
const SHELL = app(`app.textContent = 'made by a script';`);
const MADE = '<div id="app">made by a script</div>';

const xml = answer(200, { 'content-type': 'application/xml' }, SITEMAP);
const text = answer(200, { 'content-type': 'text/plain' }, 'User-agent: *');

const FILES: ZooPages = {
  '/sitemap.xml': xml,
  '/robots.txt': text,
  '/feed.rss': xml,
  '/a.woff2': answer(200, { 'content-type': 'font/woff2' }, 'font'),
  '/blog/style.CSS': answer(200, { 'content-type': 'text/css' }, 'b { }'),
};
/** No suffix tells what they are. */
const SECRET_FILES: ZooPages = { '/sitemap': xml, '/feed/': xml, '/robots': text };
const PAGES = ['/blog/node.js-in-2026', '/about.ai/team', '/v1.2', '/x?file=a.pdf', '/a.css/'];

const SITE: ZooPages = {
  ...FILES,
  ...SECRET_FILES,
  ...Object.fromEntries(PAGES.map((target) => [target.split('?')[0], SHELL])),
  '/shell': SHELL,
  '/hangs': (_request, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<!doctype html><p>half');
  },
};

interface Visits {
  readonly renders: number;
  readonly others: number;
}

const crawl = (port: number, target: string): Promise<Reply> =>
  ask(port, target, { host: ZOO_HOST, userAgent: BOT, timeoutMs: DEADLINE_MS });

describeWithChromium('whole gateway', () => {
  let zoo: Zoo;

  beforeAll(async () => {
    zoo = await openZoo(SITE);
  });
  afterAll(async () => {
    await zoo.close();
  });

  let visitsBefore = 0;
  beforeEach(() => {
    visitsBefore = zoo.visits.length;
  });

  /** How often this test had the origin asked for it: by renders, and by the gateway itself. */
  function countVisits(target: string): Visits {
    const visits = zoo.visits.slice(visitsBefore).filter(({ url }) => url === target);
    const renders = visits.filter(({ headers }) => headers['x-edge-render'] !== undefined).length;
    return { renders, others: visits.length - renders };
  }

  describe('what is rendered', () => {
    let gateway: TestGateway;

    beforeAll(async () => {
      const hosts = hostsText(zoo.url, { domain: ZOO_HOST });
      gateway = await startTestGateway({ gateway: RENDER, hosts });
      await untilRendered(gateway.port);
    }, DEADLINE_MS);
    afterAll(() => gateway.close());

    test.each(Object.keys(FILES))('G1: %s never', TIMEOUT, async (path) => {
      const target = `${path}?v=1`;
      for (let round = 1; round <= 2; round += 1) expectFile(await crawl(gateway.port, target));
      expect(countVisits(target)).toEqual({ renders: 0, others: 2 });
    });

    test.each(Object.keys(SECRET_FILES))('G1: %s once, then known', TIMEOUT, async (target) => {
      for (let round = 1; round <= 3; round += 1) expectFile(await crawl(gateway.port, target));
      expect(countVisits(target)).toEqual({ renders: 1, others: 3 });
    });

    test.each(PAGES)('G2: %s always', TIMEOUT, async (target) => {
      const first = await crawl(gateway.port, target);
      expect(first.body).toContain(MADE);
      expect(first.header('X-Render-Source')).toBe('rendered');
      expect((await crawl(gateway.port, target)).header('X-Render-Cache')).toBe('hit');
      expect(countVisits(target)).toEqual({ renders: 1, others: 0 });
    });
  });

  test(
    'a reload changes how much is rendered at once; a token is nothing to it',
    TIMEOUT,
    async () => {
      const hosts = hostsText(zoo.url, { domain: ZOO_HOST });
      const gateway = await startTestGateway({ gateway: RENDER, hosts });
      onTestFinished(gateway.close);
      await untilRendered(gateway.port);
      const service = 'service: {urls: ["http://127.0.0.1:9"], token: another}';
      const next = RENDER.replace('tabs: 2', 'tabs: 1').concat(`  ${service}\n`);
      await gateway.write({ gateway: next });
      expect(await gateway.reload()).toBe(true);
      expect(gateway.log.find(({ msg }) => msg === 'reloaded')).not.toHaveProperty('needs_restart');
      expect(isRendered(await crawl(gateway.port, '/shell?reloaded'))).toBe(true);
      const [renderer] = findRenderer(process.pid);
      process.kill(renderer, 'SIGKILL');
      await until(
        'it has ended',
        async () => stillRunning([renderer]),
        ({ length }) => length === 0,
      );
      await untilRendered(gateway.port);
    },
  );

  test('rendered once, hit then; parts are killed', TIMEOUT, async () => {
    const gateway = await startGatewayProcess(await writeConfig(zoo.url));
    onTestFinished(gateway.kill);
    const { port, child } = gateway;
    await untilRendered(port);

    const first = await crawl(port, '/shell');
    expect([first.status, first.header('X-Render-Cache')]).toEqual([200, 'new']);
    expect(first.body).toContain(MADE);
    expect(first.body).not.toContain('<script');
    const second = await crawl(port, '/shell');
    expect([second.body, second.header('X-Render-Cache')]).toEqual([first.body, 'hit']);
    expect(countVisits('/shell')).toEqual({ renders: 1, others: 0 });
    const person = await ask(port, '/shell', { host: ZOO_HOST, userAgent: HUMAN });
    expect([person.status, person.body]).toEqual([200, SHELL]);

    const [renderer, family] = findRenderer(child.pid);
    process.kill(renderer, 'SIGKILL');
    const waiting = crawl(port, '/shell?other');
    expect((await crawl(port, '/shell')).header('X-Render-Cache')).toBe('hit');
    await untilGone(family);
    expect((await waiting).body).toContain(MADE);

    const [nextRenderer, nextFamily] = findRenderer(child.pid);
    expect(nextRenderer).not.toBe(renderer);
    const broken: Promise<Reply>[] = [];
    const isUnderWay = async (): Promise<boolean> => {
      const target = `/hangs?${broken.length}`;
      broken.push(crawl(port, target));
      const look = async (): Promise<Visits> => countVisits(target);
      const { renders } = await until('it is asked for', look, (v) => v.renders + v.others > 0);
      return renders > 0;
    };
    await until('a render is under way', isUnderWay, Boolean);
    await gateway.kill();
    for (const reply of broken) expect((await reply).status).toBe(0);
    await untilGone(nextFamily);
    expect(foldersOf(nextRenderer)).toEqual([]);
    expect(foldersOf(child.pid ?? 0)).toEqual([]);
  });
});

function expectFile(reply: Reply): void {
  expect(reply.status).toBe(200);
  expect(reply.header('X-Render-Source')).toBe('bypass');
  expect(reply.header('Content-Type')).not.toContain('html');
  expect([SITEMAP, 'User-agent: *', 'font', 'b { }']).toContain(reply.body);
}

async function writeConfig(originUrl: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-whole-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'hosts.yaml'), hostsText(originUrl, { domain: ZOO_HOST }));
  const file = join(folder, 'edge-gateway.yaml');
  const lines = [
    'server: {listen: "127.0.0.1:0"}',
    'admin: {listen: "127.0.0.1:0"}',
    'storage: {base_path: ./data}',
    RENDER,
  ];
  await writeFile(file, lines.join('\n'));
  return file;
}

/** The render service of a gateway, with all processes that belong to it, browsers included. */
function findRenderer(gatewayPid = 0): readonly [number, readonly number[]] {
  const services = [...listOffspring(gatewayPid)].filter(([, command]) =>
    command.includes('render-service'),
  );
  expect(services).toHaveLength(1);
  const pid = services[0]?.[0] ?? 0;
  const offspring = listOffspring(pid);
  expect([...offspring.values()].join()).toContain('chrom');
  return [pid, [pid, ...offspring.keys()]];
}

let warmed = 0;

/** Until the gateway renders, each time another page: a failed one is not tried again at once. */
async function untilRendered(port: number): Promise<void> {
  const crawlNext = (): Promise<Reply> => crawl(port, `/app/static?warm=${(warmed += 1)}`);
  await until('it renders', crawlNext, isRendered);
}

const isRendered = (reply: Reply): boolean => reply.header('X-Render-Source') === 'rendered';

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(
    'they are gone',
    async () => stillRunning(pids),
    ({ length }) => length === 0,
  );
}

async function until<T>(
  what: string,
  look: () => Promise<T>,
  isWanted: (seen: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const seen = await look();
    if (isWanted(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await wait(PAUSE_MS);
  }
}
