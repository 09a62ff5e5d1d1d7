// The browser as something that dies, hangs, grows old and heavy: no page is lost that could be had,
// nobody waits longer than promised, and nothing is left behind (cases J1, J2, J4, J5).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLauncher } from '../../src/renderer/browser/create-launcher.ts';
import { findChromium } from '../../src/renderer/browser/find-chromium.ts';
import { launchBrowser } from '../../src/renderer/browser/launch-browser.ts';
import { commandLine, listGroup, processStart } from '../../src/renderer/browser/process-group.ts';
import { ownPrefix, sweepOwnFolders } from '../../src/renderer/folders/own-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import { currentPid, foldersOf, withRenderer } from './browser-life.ts';
import {
  buildRequest,
  describeWithChromium,
  readAnswer,
  startTestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

const PAGE = `https://${ZOO_HOST}/app/virtual-dom`;
const QUICK = { wait_for: 'DOMContentLoaded', selector: '.items' } as const;

describeWithChromium('life and death', () => {
  let zoo: Zoo;

  beforeAll(async () => {
    zoo = await openZoo();
  });
  afterAll(async () => {
    await zoo.close();
  });

  test('a browser that hangs is found out and replaced', { timeout: 60_000 }, async () => {
    await withRenderer(zoo.url, { canaryIntervalMs: 60_000 }, async ({ render, service }) => {
      await render(PAGE, QUICK);
      const pid = await currentPid(service.browserPid);
      for (const member of listGroup(pid)) process.kill(member, 'SIGSTOP');
      const { head } = await render(PAGE, { ...QUICK, timeout_ms: 15_000 });
      expect(head.outcome).toBe('complete');
      expect(await currentPid(service.browserPid)).not.toBe(pid);
      await waitUntil('the hung one is gone', () => listGroup(pid).length === 0);
    });
  });

  test('replaced by count while other pages go on', { timeout: 60_000 }, async () => {
    await withRenderer(zoo.url, { pool: { rendersPerBrowser: 3 } }, async ({ render, service }) => {
      const first = await currentPid(service.browserPid);
      const slow = render(`https://${ZOO_HOST}/app/ready-late`);
      for (let count = 0; count < 4; count += 1) await render(PAGE, QUICK);
      expect((await slow).html).toContain('ready late');
      await waitUntil('another browser', async () => {
        return (await currentPid(service.browserPid)) !== first;
      });
      await waitUntil('the first one is gone', () => listGroup(first).length === 0);
      expect(await metric(service.address, 'browser_replaced_total{reason="count"}')).not.toBe('0');
    });
  });

  test.each([
    ['age', { browserAgeMs: 1_000 }],
    ['memory', { browserRssBytes: 1 }],
  ])('replaced by %s', { timeout: 60_000 }, async (reason, pool) => {
    await withRenderer(zoo.url, { pool }, async ({ render, service }) => {
      const first = await currentPid(service.browserPid);
      await waitUntil('it is replaced', () => listGroup(first).length === 0);
      expect((await render(PAGE, QUICK)).html).toContain('lion');
      const replaced = `browser_replaced_total{reason="${reason}"}`;
      expect(await metric(service.address, replaced)).not.toBe('0');
    });
  });

  test('ten times the capacity: bounded, the rest is told at once', {
    timeout: 60_000,
  }, async () => {
    await withRenderer(zoo.url, { pool: { queueMax: 4 } }, async ({ post, service }) => {
      const startedAt = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 60 }, async () => {
          const answer = await post(buildRequest(PAGE, QUICK));
          const ms = performance.now() - startedAt;
          return { status: answer.status, retry: answer.headers.get('retry-after'), ms, answer };
        }),
      );
      const done = answers.filter(({ status }) => status === 200);
      const full = answers.filter(({ status }) => status === 503);
      expect(done.length + full.length).toBe(60);
      expect(done.length).toBeGreaterThanOrEqual(5);
      expect(full.length).toBeGreaterThanOrEqual(50);
      expect(full.every(({ retry }) => retry === '1')).toBe(true);
      expect(Math.max(...full.map(({ ms }) => ms))).toBeLessThan(
        Math.min(...done.map(({ ms }) => ms)) + 1_000,
      );
      for (const { answer } of done) expect((await readAnswer(answer)).html).toContain('lion');
      expect(Number(await metric(service.address, 'queue_full_total'))).toBe(full.length);
    });
  });

  test('an asker that leaves frees its tab', { timeout: 60_000 }, async () => {
    await withRenderer(
      zoo.url,
      { pool: { tabs: 1, queueMax: 1 } },
      async ({ post, render, service }) => {
        const leaving = new AbortController();
        const asked = post(buildRequest(`https://${ZOO_HOST}/hang`), { signal: leaving.signal });
        await waitUntil('it is rendered', () => zoo.visits.some(({ url }) => url === '/hang'));
        leaving.abort();
        await expect(asked).rejects.toThrow('abort');
        const { head } = await render(PAGE, { ...QUICK, timeout_ms: 8_000 });
        expect(head.outcome).toBe('complete');
        expect(await metric(service.address, 'tabs_busy')).toBe('0');
      },
    );
  });

  test('more tabs are there at once for those who wait', { timeout: 60_000 }, async () => {
    await withRenderer(zoo.url, { pool: { tabs: 1, queueMax: 1 } }, async (renderer) => {
      const { post, render, service } = renderer;
      const leaving = new AbortController();
      const hangs = `https://${ZOO_HOST}/hang?resized`;
      const asked = post(buildRequest(hangs), { signal: leaving.signal });
      const isVisited = (): boolean => zoo.visits.some(({ url }) => url === '/hang?resized');
      await waitUntil('the only tab is taken', isVisited);
      const waiting = render(PAGE, QUICK);
      await waitUntil(
        'one waits',
        async () => (await metric(service.address, 'queue_length')) === '1',
      );
      service.resize({ tabs: 2, queueMax: 0 });
      expect((await waiting).head.outcome).toBe('complete');
      leaving.abort();
      await expect(asked).rejects.toThrow('abort');
    });
  });

  test('time spent waiting for a tab counts', { timeout: 60_000 }, async () => {
    await withRenderer(zoo.url, { pool: { tabs: 1 } }, async ({ render }) => {
      const [, late] = await Promise.all([
        render(`https://${ZOO_HOST}/app/ready-never`, { soft_timeout_ms: 2_500 }),
        render(PAGE, { ...QUICK, timeout_ms: 1_000, soft_timeout_ms: 500 }),
      ]);
      expect(late.head.error?.code).toBe('timeout');
    });
  });

  test('a service killed -9 leaves no browser; its folder goes with the next start', async () => {
    const script = fileURLToPath(new URL('./serve.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const browserPid = Number(line.toString());
    expect(listGroup(browserPid).length).toBeGreaterThan(0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await waitUntil('the browser ends', () => listGroup(browserPid).length === 0);
    expect(foldersOf(child.pid ?? 0)).toHaveLength(1);
    await sweepOwnFolders();
    expect(foldersOf(child.pid ?? 0)).toEqual([]);
  });

  test('folders of the living are not swept', async () => {
    const own = `${ownPrefix(process.pid, processStart(process.pid))}x`;
    const reused = `${ownPrefix(process.pid, '1')}x`;
    for (const name of [own, reused]) await mkdir(join(tmpdir(), name));
    await sweepOwnFolders();
    expect(foldersOf(process.pid)).toEqual([own]);
    await rmdir(join(tmpdir(), own));
  });

  test('the sandbox is on, or its absence is said once', async () => {
    const warnings: string[] = [];
    const found = findChromium(null);
    if (!found.ok) throw new Error(found.error);
    const launcher = createLauncher(found.value, 'A'.repeat(43), (level, message) => {
      if (level === 'warn') warnings.push(message);
    });
    const launched = await launcher.launch();
    const again = await launcher.launch();
    const isOff = commandLine(launched.pid).includes('--no-sandbox');
    await Promise.all([launched.end(), again.kill()]);
    expect(isOff).toBe(!launcher.hasSandbox());
    expect(warnings).toHaveLength(isOff ? 1 : 0);
    if (process.getuid?.() === 0) {
      const options = { executablePath: found.value, trustedKeyHash: 'A'.repeat(43) };
      const refused = launchBrowser({ ...options, hasSandbox: true });
      await expect(refused).rejects.toMatchObject({ noSandbox: true });
    }
  });

  test('a browser that cannot be started says what to do', async () => {
    const options = { executablePath: '/nowhere/chromium' };
    await expect(startTestRenderer(zoo.url, options)).rejects.toThrow('/nowhere/chromium');
  });
});

async function metric(address: string, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${address}/metrics`)).text();
  const line = text
    .split('\n')
    .find((candidate) => candidate.startsWith(`edge_gateway_renderer_${name} `));
  return line?.split(' ').at(-1);
}
