// `serve` as a supervisor sees it: ready, reloads on SIGHUP, ends with SIGTERM; what keeps it from
// starting is one line and status 1.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { finishCommand, runCommand, startCommand, withFiles } from './run-command.ts';

const GATEWAY = `server: { listen: "127.0.0.1:0", watch_config: false }
admin: { listen: "127.0.0.1:0" }
render: { engine: origin }
`;
const HOSTS = 'hosts:\n  - { id: 1, domain: example.com, origin: "http://127.0.0.1:9" }\n';
const FILES = { 'edge-gateway.yaml': GATEWAY, 'hosts.yaml': HOSTS };

test('is ready, reloads on SIGHUP, keeps what it has when that fails, ends with SIGTERM', async () => {
  await withFiles(FILES, async (folder) => {
    const file = join(folder, 'edge-gateway.yaml');
    const child = startCommand(['serve', '-c', file]);
    try {
      const finished = finishCommand(child);
      const log = readLog(child);
      expect(await log('ready')).toMatchObject({ hosts: 1, engine: 'origin', store: 'embedded' });

      await writeFile(join(folder, 'hosts.yaml'), `${HOSTS}  - { id: 2, domain: b.example }\n`);
      child.kill('SIGHUP');
      expect(await log('reloaded')).toMatchObject({ hosts: 2 });

      await writeFile(join(folder, 'hosts.yaml'), 'hosts: nothing\n');
      child.kill('SIGHUP');
      expect(await log('reload refused: the old configuration goes on serving')).toMatchObject({
        level: 'error',
        errors: [expect.stringMatching(/hosts\.yaml:1:\d+: error: /)],
      });

      child.kill('SIGTERM');
      expect(await log('stopped')).toMatchObject({ level: 'info' });
      expect(await finished).toMatchObject({ status: 0, stderr: '' });
    } finally {
      child.kill('SIGKILL');
    }
  });
});

test.each(['server', 'admin'])('a port of %s that is taken is named', async (block) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const line = new RegExp(`^${block}: \\{ listen: "127.0.0.1:0"`, 'm');
  const gateway = GATEWAY.replace(line, `${block}: { listen: "127.0.0.1:${port}"`);
  await withFiles({ ...FILES, 'edge-gateway.yaml': gateway }, async (folder) => {
    const child = startCommand(['serve', '-c', join(folder, 'edge-gateway.yaml')]);
    try {
      const { status, stderr } = await finishCommand(child);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`^edge-gateway: port ${port} is in use; .*change ${block}\\.listen\\n$`),
      );
    } finally {
      child.kill('SIGKILL');
    }
  });
  taken.close();
  await once(taken, 'close');
});

test('an error in a file: every problem, and no gateway', async () => {
  await withFiles({ ...FILES, 'hosts.yaml': 'hosts:\n  - { id: 0 }\n' }, async (folder) => {
    const { status, stderr } = await runCommand(['serve', '-c', join(folder, 'edge-gateway.yaml')]);
    expect(status).toBe(1);
    expect(stderr.match(/: error: /g)?.length).toBeGreaterThan(1);
  });
});

/** Answers the next log line with this message. */
function readLog(
  child: ChildProcessWithoutNullStreams,
): (message: string) => Promise<Readonly<Record<string, unknown>>> {
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return async (message) => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done === true) throw new Error(`it ended without "${message}"`);
      const line = JSON.parse(value) as Readonly<Record<string, unknown>>;
      if (line['msg'] === message) return line;
    }
  };
}
