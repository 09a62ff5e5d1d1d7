// A server of the bench: a process with its children, bound to one core, ended as a whole.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { waitUntil } from '../../helpers/wait-until.ts';

export interface Server {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export interface Place {
  readonly core: number;
  readonly port: number;
}

/** Debian keeps servers where only root's path looks. */
const ENV = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

/** Starts a command on a core and answers when its port does. */
export async function startPinned(
  name: string,
  command: readonly string[],
  { core, port }: Place,
): Promise<Server> {
  const child = spawn('taskset', ['-c', String(core), ...command], {
    env: ENV,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = `${complaints}${chunk.toString('utf8')}`.slice(-2_000);
  });
  await once(child, 'spawn');
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  await waitUntil(`${name} listens`, async () => hasEnded(child) || (await canConnect(port)));
  if (hasEnded(child)) throw new Error(`${name} did not start: ${complaints}`);
  return {
    name,
    port,
    pid: child.pid ?? 0,
    stop: async () => {
      process.off('exit', killAtExit);
      if (hasEnded(child)) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
