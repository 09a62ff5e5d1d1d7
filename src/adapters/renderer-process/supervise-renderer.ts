// The gateway's own render service: a child process on a private socket, started again when it
// ends, with growing pauses. It ends with us even when we are killed, because it reads our end of a
// pipe.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { isProcessAlive } from '../../core/is-process-alive.ts';

export interface RendererProcessOptions {
  /** Program and arguments, without the socket. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** Its log lines, as it writes them. */
  readonly output: NodeJS.WritableStream;
  readonly onEvent: (event: RendererEvent) => void;
}

export type RendererEvent =
  | { readonly kind: 'renderer_started'; readonly pid: number | undefined }
  | { readonly kind: 'renderer_ended'; readonly code: number | null; readonly restartMs: number };

export interface RendererProcess {
  readonly socketPath: string;
  /** Makes it read the configuration again. */
  readonly reload: () => void;
  readonly close: () => Promise<void>;
}

/** Followed by the process id of the gateway that made it. */
const FOLDER_PREFIX = 'edge-gateway-renderer-';
const RESTART_MS_MIN = 500;
const RESTART_MS_MAX = 30_000;
/** A service that ran this long was well; the next end starts with a short pause again. */
const HEALTHY_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;

/** Starts the process; whether it can render yet is for its /ready to say. */
export async function superviseRenderer(options: RendererProcessOptions): Promise<RendererProcess> {
  await removeLeftovers();
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const socketPath = join(folder, 'render.sock');
  const [program, ...args] = options.command;
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = RESTART_MS_MIN;
  let isClosing = false;

  const start = (): void => {
    const startedAt = performance.now();
    child = spawn(program, [...args, '--socket', socketPath], {
      env: options.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdout?.pipe(options.output, { end: false });
    options.onEvent({ kind: 'renderer_started', pid: child.pid });
    // `error` without `exit` when it could not be spawned at all.
    child.once('error', () => ended(startedAt, null));
    child.once('exit', (code) => ended(startedAt, code));
  };

  const ended = (startedAt: number, code: number | null): void => {
    if (isClosing || timer !== undefined) return;
    if (performance.now() - startedAt > HEALTHY_MS) pauseMs = RESTART_MS_MIN;
    options.onEvent({ kind: 'renderer_ended', code, restartMs: pauseMs });
    timer = setTimeout(() => {
      timer = undefined;
      start();
    }, pauseMs);
    pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
  };

  start();
  return {
    socketPath,
    reload: () => void child.kill('SIGHUP'),
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Folders of gateways that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(/^edge-gateway-renderer-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isProcessAlive(pid, process)) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

/** Asks it to end, and makes it when it doesn't. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
