// `reload` and `health`: what the running gateway says of itself, and the exit status of it.
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { page } from '../scenario/stage.ts';
import { runCommand, withFiles } from './run-command.ts';
import { type RunningSite, startRunningSite } from './running-site.ts';

const BROKEN = 'hosts:\n  - id: 2\n    domain: other.test\n    orign: x\n';
const start = (): Promise<RunningSite> =>
  startRunningSite({ answer: () => page('x'), token: 'a-secret' });

test('reload: applied, refused with every place, and what needs a restart', async () => {
  const { run, writeHost, writeGateway } = await start();
  expect(await run(['reload'])).toEqual({ status: 0, stdout: 'reloaded\n', stderr: '' });
  await writeHost('other', BROKEN);
  const refused = await run(['reload']);
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toMatch(/other\.hosts\.yaml:4:5: error: unknown key "orign"/);
  expect(refused.stderr).toMatch(/edge-gateway: not reloaded: [^\n]+\n$/);
  const told = await run(['reload', '--json']);
  expect(told.status).toBe(1);
  expect(JSON.parse(told.stdout)).toMatchObject({ applied: false, error: { kind: 'not_applied' } });
  await writeHost('other', 'hosts: []\n');
  await writeGateway('memory: {max_bytes: 1MiB}\n');
  const { status, stdout } = await run(['reload']);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^reloaded; changed and in effect after a restart: memory/);
});

test('health: ready, and told when a reload was refused; then gone', async () => {
  const { run, writeHost, stop, adminPort } = await start();
  const ready = await run(['health']);
  expect(ready).toMatchObject({ status: 0, stderr: '' });
  expect(ready.stdout).toMatch(/^ready\nentries \(embedded\): ok\n[^]*accepting: ok\n$/);
  await writeHost('other', BROKEN);
  await run(['reload']);
  const refused = await run(['health']);
  expect(refused.status).toBe(0);
  expect(refused.stdout).toContain('last reload: refused, errors: 1\n');
  const json = await run(['health', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ status: 'ready', config: { current: false } });
  expect(await run(['health', '--live'])).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
  await stop();
  for (const argv of [['health'], ['health', '--live'], ['reload']]) {
    const { status, stderr } = await run(argv);
    expect(status).toBe(1);
    expect(stderr).toContain(`nobody answers at 127.0.0.1:${adminPort} (admin.listen)`);
    // The file may be that of a render service.
    expect(stderr).toMatch(/ A render service has no such listener: [^\n]+\n$/);
  }
});

test.each([
  ['ready', ['health'], 0, 'ready\n'],
  ['not ready', ['health'], 1, 'not ready\n'],
  ['ready', ['health', '--json'], 0, '{"status":"ready"}\n'],
  ['not ready', ['health', '--live'], 0, 'alive\n'],
])('health of a render service that is %s: %j', async (word, argv, status, stdout) => {
  const server = createHttpServer(({ url }, response) => {
    const isWell = url === '/health' || word === 'ready';
    response.writeHead(isWell ? 200 : 503).end(url === '/health' ? 'alive\n' : `${word}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asking = [...argv, '--renderer', address];
  expect(await runCommand(asking)).toEqual({ status, stdout, stderr: '' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const gone = await runCommand(asking);
  expect(gone).toMatchObject({ status: 1, stdout: '' });
  expect(gone.stderr).toContain(`no render service answers at ${address}: ECONNREFUSED`);
});

test('health: not ready, and who is no gateway', async () => {
  const port = await findFreePort();
  const server = createServer((socket) => {
    socket.once('data', (head) => {
      const isReady = head.toString('latin1').startsWith('GET /ready ');
      const body = isReady ? '{"status":"not ready","checks":{"a":"timeout"}}' : '[]';
      const status = isReady ? '503 Service Unavailable' : '200 OK';
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const files = { 'edge-gateway.yaml': `admin: {listen: "127.0.0.1:${port}"}\n` };
  await withFiles(files, async (folder) => {
    const config = ['-c', `${folder}/edge-gateway.yaml`];
    expect(await runCommand(['health', ...config])).toEqual({
      status: 1,
      stdout: 'not ready\na: timeout\n',
      stderr: '',
    });
    const live = await runCommand(['health', '--live', ...config]);
    expect(live).toMatchObject({ status: 1, stdout: '' });
    expect(live.stderr).toContain('the gateway answers oddly (200)');
  });
});

test('health: who never answers is given up', async () => {
  const port = await findFreePort();
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const files = { 'edge-gateway.yaml': `admin: {listen: "127.0.0.1:${port}"}\n` };
  await withFiles(files, async (folder) => {
    const { status, stderr } = await runCommand(['health', '-c', `${folder}/edge-gateway.yaml`]);
    expect(status).toBe(1);
    expect(stderr).toContain('has not answered in 4 s');
  });
}, 20_000);
