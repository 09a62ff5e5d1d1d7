// `edge-gateway render-service` beside a gateway that has files of its own: a host that only the
// gateway knows, both logs, and how the service comes to know it. The programs and Chromium are real.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../cli/run-command.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { app } from '../page-zoo/pages/page.ts';
import { openZoo } from '../page-zoo/zoo.ts';
import { type LogLine, startGatewayProcess } from '../scenario/gateway-process.ts';
import { ask, BOT, type Reply } from '../scenario/stage.ts';
import { describeWithChromium } from './test-renderer.ts';

const DEADLINE_MS = 60_000;
const PAUSE_MS = 50;
const SHELL = app(`app.textContent = 'made by a script';`);
const MADE = '<div id="app">made by a script</div>';

interface Folder {
  readonly file: string;
  readonly writeHosts: (text: string) => Promise<void>;
}

async function makeFolder(gatewayText: string, hosts: string): Promise<Folder> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-alone-'));
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'edge-gateway.yaml');
  const writeHosts = (text: string): Promise<void> => writeFile(join(folder, 'hosts.yaml'), text);
  await writeHosts(hosts);
  await writeFile(file, gatewayText);
  return { file, writeHosts };
}

interface Service {
  readonly address: string;
  readonly log: readonly LogLine[];
  readonly hangUp: () => void;
}

async function startService(file: string): Promise<Service> {
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = startCommand(['render-service', '-c', file, '--listen', address]);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  child.stderr.pipe(process.stderr);
  const log: LogLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(JSON.parse(line)));
  await waitFor('it is ready', () => linesOf(log, 'renderer ready').length > 0);
  return { address, log, hangUp: () => void child.kill('SIGHUP') };
}

const linesOf = (log: readonly LogLine[], msg: string): readonly LogLine[] =>
  log.filter((line) => line['msg'] === msg);

const hostsOf = (originUrl: string, names: readonly string[]): string =>
  JSON.stringify({
    hosts: names.map((domain, index) => ({ id: index + 1, domain, origin: originUrl })),
  });

async function waitFor(what: string, isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue, { timeout: DEADLINE_MS, interval: PAUSE_MS, message: what }).toBe(true);
}

describeWithChromium('a render service elsewhere', () => {
  const timeout = 3 * DEADLINE_MS;

  test('a new host: both logs name the reason, saving the file mends it', { timeout }, async () => {
    const zoo = await openZoo(Object.fromEntries(['/1', '/2', '/3'].map((at) => [at, SHELL])));
    onTestFinished(zoo.close);
    const old = hostsOf(zoo.url, ['old.test']);
    const both = hostsOf(zoo.url, ['old.test', 'new.test']);
    const there = await makeFolder('render: {engine: chromium, chromium: {tabs: 1}}', old);
    const service = await startService(there.file);
    const here = await makeFolder(
      `server: {listen: "127.0.0.1:0", workers: 1}
admin: {listen: "127.0.0.1:${await findFreePort()}"}
render: {engine: service, service: {urls: ["http://${service.address}"]}, timeout: 50s}
`,
      both,
    );
    const gateway = await startGatewayProcess(here.file);
    onTestFinished(gateway.kill);
    const crawl = async (target: string): Promise<Reply> =>
      await ask(gateway.port, target, { host: 'new.test', userAgent: BOT, timeoutMs: DEADLINE_MS });

    for (const target of ['/1', '/2']) {
      const reply = await crawl(target);
      expect([reply.status, reply.body]).toEqual([200, SHELL]);
    }
    await waitFor('the gateway tells', () => linesOf(gateway.log, 'page failed').length > 0);
    expect(linesOf(gateway.log, 'page failed')[0]).toMatchObject({
      detail: 'render_failed',
      cause: 'unknown_host',
    });
    const refusals = linesOf(service.log, 'page refused: its host is unknown to the renderer');
    expect(refusals.map(({ level, host }) => [level, host])).toEqual([['warn', 'new.test']]);

    await there.writeHosts(both);
    await waitFor('it reloads', () => linesOf(service.log, 'renderer reloaded').length > 0);
    expect(linesOf(service.log, 'renderer reloaded')[0]).toMatchObject({ level: 'info', hosts: 2 });
    const reply = await crawl('/3');
    expect([reply.header('X-Render-Source'), reply.body.includes(MADE)]).toEqual([
      'rendered',
      true,
    ]);

    await there.writeHosts('hosts: [{id: 1, domain: old.test, orign: x}]');
    const refused = 'reload refused: hosts and sizes stay';
    await waitFor('it refuses', () => linesOf(service.log, refused).length > 0);
    expect(linesOf(service.log, refused)[0]).toMatchObject({
      level: 'error',
      errors: [expect.stringContaining('hosts.yaml:1:35: error: unknown key "orign"')],
    });
  });

  test('where nothing is to be watched, SIGHUP alone reloads', { timeout }, async () => {
    const one = hostsOf('http://127.0.0.1:9', ['old.test']);
    const there = await makeFolder('server: {watch_config: false}', one);
    const service = await startService(there.file);
    service.hangUp();
    await waitFor('it reloads', () => linesOf(service.log, 'renderer reloaded').length === 1);
    await there.writeHosts(hostsOf('http://127.0.0.1:9', ['old.test', 'new.test']));
    service.hangUp();
    await waitFor('it reloads again', () => linesOf(service.log, 'renderer reloaded').length === 2);
    expect(linesOf(service.log, 'renderer reloaded').map(({ hosts }) => hosts)).toEqual([1, 2]);
  });
});
