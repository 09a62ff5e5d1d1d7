// Where our folders are made and who removes them, with a real Chromium and `edge-gateway serve` in
// processes of its own: with a TMPDIR of any length, and after any end of any of them.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createOwnFolder } from '../../src/renderer/folders/own-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { app } from '../page-zoo/pages/page.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import { type GatewayProcess, startGatewayProcess } from '../scenario/gateway-process.ts';
import { ask, BOT, hostsText } from '../scenario/stage.ts';
import { foldersOf } from './browser-life.ts';
import { listOffspring, stillRunning } from './process-tree.ts';
import { describeWithChromium, ZOO_HOST } from './test-renderer.ts';

/** Programs and a browser, on a busy machine. */
const TIMEOUT = { timeout: 150_000 };
const DEADLINE_MS = 60_000;
/** A place may have so many bytes, whatever process ids there are. */
const PLACE_BYTES_MAX = 30;
const SHELL = app(`app.textContent = 'made by a script';`);

/** A folder of a test's own, with a path of this length, as TMPDIR. */
function usePlace(bytes: number): string {
  const base = mkdtempSync('/tmp/eg-');
  onTestFinished(() => rmSync(base, { recursive: true }));
  const place = join(base, 'x'.repeat(bytes - base.length - 1));
  mkdirSync(place);
  vi.stubEnv('TMPDIR', place);
  onTestFinished(() => void vi.unstubAllEnvs());
  return place;
}

test.each([
  [PLACE_BYTES_MAX, true],
  [PLACE_BYTES_MAX + 1, false],
  [200, false],
])('a TMPDIR of %i bytes: used is %s', (bytes, isUsed) => {
  const place = usePlace(bytes);
  const created = createOwnFolder();
  const path = created.ok ? created.value : '';
  expect(path.startsWith(isUsed ? `${place}/egw-` : '/tmp/egw-')).toBe(true);
  rmSync(path, { recursive: true });
});

test('no place at all: told what is wrong with each', () => {
  const long = `/tmp/${'x'.repeat(40)}`;
  const created = createOwnFolder([long, '/nowhere']);
  const error = created.ok ? '' : created.error;
  expect(error).toContain(`${long} is too long for the sockets in it: 45 bytes of 30`);
  expect(error).toMatch(/ENOENT[^;]*\/nowhere\/egw-[^;]*; set TMPDIR to a short one/);
});

describeWithChromium('folders', () => {
  let zoo: Zoo;

  beforeAll(async () => {
    zoo = await openZoo({ '/shell': SHELL });
  });
  afterAll(async () => {
    await zoo.close();
  });

  async function start(): Promise<Started> {
    const folder = await mkdtemp('/tmp/edge-gateway-folders-');
    await writeFile(join(folder, 'hosts.yaml'), hostsText(zoo.url, { domain: ZOO_HOST }));
    const file = join(folder, 'edge-gateway.yaml');
    const lines = [
      'server: {listen: "127.0.0.1:0", workers: 1}',
      'admin: {listen: "127.0.0.1:0"}',
      'storage: {base_path: ./data}',
      'render: {engine: chromium, chromium: {tabs: 2}, timeout: 50s, soft_timeout: 40s}',
    ];
    await writeFile(file, lines.join('\n'));
    const gateway = await startGatewayProcess(file);
    onTestFinished(async () => {
      await gateway.kill();
      await rm(folder, { recursive: true, force: true });
    });
    await waitUntil('ready', () => gateway.log.some(({ msg }) => msg === 'ready'), DEADLINE_MS);
    const offspring = [...listOffspring(gateway.child.pid ?? 0)];
    const isService = ([, command]: readonly [number, string]): boolean =>
      command.includes('render-service');
    const service = offspring.find(isService)?.[0] ?? 0;
    return { gateway, service, family: offspring.map(([pid]) => pid) };
  }

  test.each([PLACE_BYTES_MAX, 120])('a TMPDIR of %i bytes renders', TIMEOUT, async (bytes) => {
    const place = usePlace(bytes);
    const { gateway, service } = await start();
    const where = bytes > PLACE_BYTES_MAX ? '/tmp' : place;
    for (const pid of [service, gateway.child.pid ?? 0]) {
      expect(foldersOf(pid, where)).toHaveLength(1);
    }
    const options = { host: ZOO_HOST, userAgent: BOT, timeoutMs: DEADLINE_MS };
    const reply = await ask(gateway.port, '/shell', options);
    expect(reply.body).toContain('made by a script');
    expect(await gateway.stop()).toBe(0);
    for (const pid of [service, gateway.child.pid ?? 0]) expect(foldersOf(pid, where)).toEqual([]);
  });

  test('a service that can’t end is killed: nothing is left', TIMEOUT, async () => {
    const place = usePlace(PLACE_BYTES_MAX);
    const { gateway, service, family } = await start();
    process.kill(service, 'SIGSTOP');
    expect(await gateway.stop()).toBe(0);
    expect(readdirSync(place)).toEqual([]);
    await waitUntil('all have ended', () => stillRunning(family).length === 0);
  });

  test('the gateway is killed: its service leaves nothing', TIMEOUT, async () => {
    const place = usePlace(PLACE_BYTES_MAX);
    const { gateway, family } = await start();
    await gateway.kill();
    await waitUntil('all have ended', () => stillRunning(family).length === 0, DEADLINE_MS);
    expect(readdirSync(place)).toEqual([]);
  });

  test('both are killed: the next start removes what they left', TIMEOUT, async () => {
    const place = usePlace(PLACE_BYTES_MAX);
    const { gateway, service, family } = await start();
    const died = [service, gateway.child.pid ?? 0];
    // First the one that would clean up behind the other; the gateway must not start another.
    process.kill(gateway.child.pid ?? 0, 'SIGSTOP');
    process.kill(service, 'SIGKILL');
    await gateway.kill();
    await waitUntil('all have ended', () => stillRunning(family).length === 0, DEADLINE_MS);
    expect(died.flatMap((pid) => foldersOf(pid, place))).toHaveLength(2);
    const next = await start();
    expect(died.flatMap((pid) => foldersOf(pid, place))).toEqual([]);
    expect(await next.gateway.stop()).toBe(0);
    expect(readdirSync(place)).toEqual([]);
  });
});

interface Started {
  readonly gateway: GatewayProcess;
  readonly service: number;
  /** All processes that the gateway has started. */
  readonly family: readonly number[];
}
