// A real nginx for a suite: one process on a free loopback port, in a folder of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { findFreePort } from './free-port.ts';
import { waitUntil } from './wait-until.ts';

export interface Nginx {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

const PROGRAM = 'nginx';
/** Debian keeps it where only root's path looks. */
const ENV = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };
const TEMP_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
const PERMITTED_STARTS = 5;

/**
 * Starts nginx and answers when it listens.
 *
 * @param http the `http` block for a port it should listen on
 */
export async function startNginx(http: (port: number) => string): Promise<Nginx> {
  for (let start = 1; ; start += 1) {
    const port = await findFreePort();
    const nginx = await tryStart(port, http(port));
    if (typeof nginx !== 'string') return nginx;
    if (start === PERMITTED_STARTS) throw new Error(`nginx did not start: ${nginx}`);
  }
}

/**
 * Describes suites that need nginx. Without it they fail in CI; elsewhere one test stands in for
 * them and says plainly that they could not run.
 */
export function describeWithNginx(name: string, body: () => void): void {
  const hasNginx = spawnSync(PROGRAM, ['-v'], { env: ENV }).status === 0;
  const define = hasNginx ? body : defineMissing;
  describe(`${name} (nginx)`, () => {
    define();
  });
}

function defineMissing(): void {
  const message = 'could not run: nginx is not in the path';
  test(`${message}`, ({ task }) => {
    const where = `${task.suite?.name}: ${message}`;
    if (process.env['CI']) throw new Error(where);
    console.warn(where);
  });
}

async function tryStart(port: number, http: string): Promise<Nginx | string> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-nginx-'));
  const file = join(folder, 'nginx.conf');
  const temp = TEMP_PATHS.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
  const base = `daemon off; master_process off; pid ${folder}/pid; events {}`;
  await writeFile(file, `${base}\nhttp {\naccess_log off;\n${temp}\n${http}\n}\n`);
  const child = spawn(PROGRAM, ['-p', folder, '-e', 'stderr', '-c', file], {
    env: ENV,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString('utf8');
  });
  await once(child, 'spawn');
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const stop = async (): Promise<void> => {
    if (isRunning(child)) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    process.off('exit', killAtExit);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitUntil('nginx listens', async () => !isRunning(child) || (await canConnect(port)));
    if (isRunning(child)) return { port, stop };
  } catch (error) {
    complaints += String(error);
  }
  await stop();
  return complaints;
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
