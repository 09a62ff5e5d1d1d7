// A real redis-server for a suite: on a free loopback port, in a folder of its own, nothing kept.
// It can be frozen, killed and started again on the same port, as happens to the real ones.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { findFreePort } from './free-port.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it in good order and removes its folder. */
  readonly stop: () => Promise<void>;
  /** Freezes it: connections stay, nothing answers. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Ends it at once, as the kernel does when memory is short. */
  readonly kill: () => Promise<void>;
}

export interface RedisServerOptions {
  /** A port that was just in use, to come back on; otherwise a free one. */
  readonly port?: number;
  /** More command line, as in `['--maxmemory', '1mb']`. */
  readonly args?: readonly string[];
  /** A file of configuration that Redis may write to; it then keeps what the file says. */
  readonly configFile?: string;
}

const START_TIMEOUT_MS = 10_000;
const START_ATTEMPTS = 5;

/** Starts redis-server and answers when it answers. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await findFreePort());
    const server = await tryStart(port, options);
    if (server !== null) return server;
    if (attempt === START_ATTEMPTS) throw new Error(`redis-server did not start on port ${port}`);
  }
}

/**
 * Describes suites that need redis-server. Without it they fail in CI; elsewhere one test stands
 * in for them and says plainly that they could not run.
 */
export function describeWithRedis(name: string, body: () => void): void {
  const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
  const define = hasRedis ? body : defineMissing;
  describe(`${name} (redis-server)`, () => {
    define();
  });
}

function defineMissing(): void {
  const message = 'could not run: redis-server is not in the path';
  test(`${message}`, ({ task }) => {
    const where = `${task.suite?.name}: ${message}`;
    if (process.env['CI']) throw new Error(where);
    console.warn(where);
  });
}

async function tryStart(
  port: number,
  { args = [], configFile }: RedisServerOptions,
): Promise<RedisServer | null> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-redis-'));
  const own = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder];
  const nothingKept = configFile === undefined ? ['--save', '', '--appendonly', 'no'] : [];
  const file = configFile === undefined ? [] : [configFile];
  const child = spawn('redis-server', [...file, ...own, ...nothingKept, ...args], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      child.kill('SIGCONT');
      await exited;
    }
    process.off('exit', killAtExit);
    await rm(folder, { recursive: true, force: true });
  };
  if (!(await answersPing(child, port))) {
    await end('SIGKILL');
    return null;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    stop: () => end('SIGTERM'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
  };
}

async function answersPing(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    if (await ping(port)) return child.exitCode === null;
    await wait(10);
  }
  return false;
}

/** `-NOAUTH` is an answer too. */
async function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
