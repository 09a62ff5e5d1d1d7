// The gateway and its own renderer when it is not there: at the start, after a crash, for good.
// With a real Chromium and `edge-gateway serve` in processes of its own. Crawlers wait for a
// renderer that is coming, and for none that isn't; people wait for nothing.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../../src/renderer/browser/find-chromium.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { app } from '../page-zoo/pages/page.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import {
  type GatewayProcess,
  type LogLine,
  startGatewayProcess,
} from '../scenario/gateway-process.ts';
import { ask, BOT, HUMAN, hostsText, type Reply } from '../scenario/stage.ts';
import { listOffspring } from './process-tree.ts';
import { describeWithChromium, ZOO_HOST } from './test-renderer.ts';

/** Programs and a browser, on a busy machine. */
const DEADLINE_MS = 60_000;
const TIMEOUT = { timeout: 3 * DEADLINE_MS };
const PAUSE_MS = 50;

const SHELL = app(`app.textContent = 'made by a script';`);
const MADE = '<div id="app">made by a script</div>';

interface Started {
  readonly gateway: GatewayProcess;
  readonly crawl: (target: string) => Promise<Reply>;
  readonly ready: () => Promise<{ readonly status: number; readonly text: string }>;
  readonly metrics: () => Promise<string>;
}

interface StartOptions {
  readonly workers?: number;
  readonly executablePath?: string;
}

async function start(originUrl: string, options: StartOptions = {}): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-own-'));
  const adminPort = await findFreePort();
  const { workers = 1, executablePath } = options;
  const path = executablePath === undefined ? '' : `, executable_path: ${executablePath}`;
  const lines = [
    `server: {listen: "127.0.0.1:0", workers: ${workers}}`,
    `admin: {listen: "127.0.0.1:${adminPort}"}`,
    'storage: {base_path: ./data}',
    `render: {engine: chromium, chromium: {tabs: 2${path}}, timeout: 50s, soft_timeout: 40s}`,
  ];
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(join(folder, 'hosts.yaml'), hostsText(originUrl, { domain: ZOO_HOST }));
  await writeFile(file, lines.join('\n'));
  const gateway = await startGatewayProcess(file);
  onTestFinished(async () => {
    await gateway.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const admin = async (where: string) => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}${where}`);
    return { status: answer.status, text: await answer.text() };
  };
  return {
    gateway,
    crawl: async (target) =>
      await ask(gateway.port, target, {
        host: ZOO_HOST,
        userAgent: BOT,
        timeoutMs: DEADLINE_MS,
      }),
    ready: async () => await admin('/ready'),
    metrics: async () => (await admin('/metrics')).text,
  };
}

/** The system's Chromium, which begins to start when it is released. */
async function makeLateBrowser() {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-late-'));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
  const [path, gate] = [join(folder, 'browser'), join(folder, 'gate')];
  const found = findChromium(null);
  const wait = `while [ ! -e '${gate}' ]; do sleep 0.1; done`;
  const text = `#!/bin/sh\n${wait}\nexec '${found.ok ? found.value : ''}' "$@"\n`;
  await writeFile(path, text, { mode: 0o755 });
  return { path, release: async () => await writeFile(gate, '') };
}

const person = async ({ gateway: { port } }: Started): Promise<Reply> =>
  await ask(port, '/person', { host: ZOO_HOST, userAgent: HUMAN, timeoutMs: DEADLINE_MS });

const MILESTONES: readonly unknown[] = ['listening', 'renderer ready', 'ready'];

/** What is told of the start, in the order it was told. */
const toldOf = (log: readonly LogLine[]): readonly unknown[] =>
  log.map(({ msg }) => msg).filter((msg) => MILESTONES.includes(msg));

const find = (log: readonly LogLine[], fields: LogLine): LogLine | undefined =>
  log.find((line) => Object.entries(fields).every(([name, value]) => line[name] === value));

describeWithChromium('own renderer', () => {
  let zoo: Zoo;
  const pages = Object.fromEntries(
    ['/first', '/person', '/next', ...Array.from({ length: 9 }, (_, i) => `/${i}`)].map(
      (target) => [target, SHELL],
    ),
  );

  beforeAll(async () => {
    zoo = await openZoo(pages);
  });
  afterAll(async () => {
    await zoo.close();
  });

  test.each([1, 2])(
    'at the start, %i serving: people at once, crawlers get the page rendered',
    TIMEOUT,
    async (workers) => {
      const browser = await makeLateBrowser();
      const started = await start(zoo.url, { workers, executablePath: browser.path });
      const { gateway, crawl } = started;
      const first = crawl('/first');
      expect(await person(started)).toMatchObject({ status: 200, body: SHELL });
      expect(find(gateway.log, { msg: 'ready' })).toBe(undefined);
      expect(await started.ready()).toMatchObject({
        status: 503,
        text: expect.stringContaining('renderer_starting'),
      });
      await browser.release();
      expectRendered(await first);
      await until('ready', () => find(gateway.log, { msg: 'ready' }) !== undefined);
      expect(toldOf(gateway.log)).toEqual(['listening', 'renderer ready', 'ready']);
      expect((await started.ready()).status).toBe(200);
      expect(await started.metrics()).toContain('edge_gateway_renderer_ready{service="own"} 1');
    },
  );

  test.each([1, 2])(
    'killed, %i serving: what was asked for before and after is rendered',
    TIMEOUT,
    async (workers) => {
      const { gateway, crawl, metrics } = await start(zoo.url, { workers });
      expectRendered(await crawl('/first'));
      await until('ready', () => find(gateway.log, { msg: 'ready' }) !== undefined);
      const before = [0, 1, 2].map((i) => crawl(`/${i}`));
      process.kill(findService(gateway), 'SIGKILL');
      const after = [3, 4, 5].map((i) => crawl(`/${i}`));
      for (const reply of await Promise.all([...before, ...after])) expectRendered(reply);
      expectRendered(await crawl('/next'));
      expect(find(gateway.log, { kind: 'renderer_ended' })).toMatchObject({
        level: 'warn',
        msg: 'renderer ended',
        code: null,
        signal: 'SIGKILL',
        restart_ms: 500,
      });
      const text = await metrics();
      expect(text).toContain('edge_gateway_renderer_restarts_total{reason="crashed"} 1');
    },
  );
});

test.each([
  ['ends at once', '/bin/false', 'the browser ended while it started'],
  ['is not there', '/nowhere/chromium', '/nowhere/chromium cannot be executed'],
])('a Chromium that %s: crawlers get the site’s page, and all say why', TIMEOUT, async (...row) => {
  const [, executablePath, reason] = row;
  const zoo = await openZoo({ '/first': SHELL, '/next': SHELL, '/person': SHELL });
  onTestFinished(zoo.close);
  const started = await start(zoo.url, { executablePath });
  const { gateway, crawl } = started;
  for (const target of ['/first', '/next']) {
    const reply = await crawl(target);
    expect(reply).toMatchObject({ status: 200, body: SHELL });
    expect(reply.header('Cache-Status')).toContain('detail=no_renderer');
  }
  await until('ready', () => find(gateway.log, { msg: 'ready' }) !== undefined);
  expect(find(gateway.log, { msg: 'nothing can be rendered yet' })).toMatchObject({
    level: 'warn',
    reason: expect.stringContaining(reason),
  });
  await until('its end', () => find(gateway.log, { kind: 'renderer_ended' }) !== undefined);
  expect(find(gateway.log, { kind: 'renderer_ended' })).toMatchObject({
    level: 'warn',
    code: 1,
    signal: null,
    reason: expect.stringContaining(reason),
  });
  const failed = find(gateway.log, { msg: 'page failed' });
  // Not the socket's ENOENT, which reads as if a program were missing.
  expect(failed).toMatchObject({
    detail: 'no_renderer',
    cause: expect.stringContaining(`renderer_failed: ${reason}`),
  });
  // Its log is JSON to the last line; what was no JSON would be on standard error.
  expect(gateway.complaints()).toBe('');
  expect(await started.ready()).toMatchObject({
    status: 503,
    text: expect.stringContaining('renderer_failed'),
  });
  const text = await started.metrics();
  expect(text).toContain('edge_gateway_renderer_ready{service="own"} 0');
  expect(text).toMatch(/renderer_restarts_total\{reason="not_ready"\} [1-9]/);
});

function expectRendered(reply: Reply): void {
  expect(reply.body).toContain(MADE);
  expect([reply.status, reply.header('X-Render-Source')]).toEqual([200, 'rendered']);
}

function findService({ child: { pid = 0 } }: GatewayProcess): number {
  const [service] = [...listOffspring(pid)].filter(([, command]) =>
    command.includes('render-service'),
  );
  return service?.[0] ?? 0;
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await wait(PAUSE_MS);
  }
}
