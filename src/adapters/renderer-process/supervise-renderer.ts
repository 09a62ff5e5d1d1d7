// The gateway's own render service: a child process on a private socket, started again when it
// ends, with growing pauses. It ends with us even when we are killed, because it reads our end of a
// pipe. Waiting for it pays while it starts, and when one that was well is replaced; a service that
// ends before it was ready is waited for by nobody until one is.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadiness, type Readiness } from './readiness.ts';
import { readRendererWord } from './renderer-word.ts';

export interface RendererProcessOptions {
  /** Program and arguments, without the socket. */
  readonly command: readonly [string, ...string[]];
  /** Where nobody else can reach it. */
  readonly socketPath: string;
  readonly env: NodeJS.ProcessEnv;
  /** Its log lines, as it writes them. */
  readonly output: NodeJS.WritableStream;
  readonly onEvent: (event: RendererEvent) => void;
}

export type RendererEvent =
  | { readonly kind: 'renderer_started'; readonly pid: number | undefined }
  | { readonly kind: 'renderer_ready'; readonly startMs: number }
  /** It was not ready in time, and may still become so. */
  | { readonly kind: 'renderer_late'; readonly afterMs: number }
  /** It ended, and not because we wanted it to. */
  | (ServiceEnd & {
      readonly kind: 'renderer_ended';
      /** Whether it has rendered before. */
      readonly wasReady: boolean;
      /** Until the next is started. */
      readonly restartMs: number;
    });

interface ServiceEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its own words, where it had some. */
  readonly reason: string | null;
}

export interface RendererProcess {
  /** As `Readiness`. */
  readonly untilReady: Readiness['untilReady'];
  /** Makes it read the configuration again. */
  readonly reload: () => void;
  readonly close: () => Promise<void>;
}

const RESTART_MS_MIN = 500;
const RESTART_MS_MAX = 30_000;
/** After one that was well, nobody waits through a longer pause than this. */
const AWAITED_RESTART_MS_MAX = 2_000;
/** A service that ran this long was well; the next end starts with a short pause again. */
const HEALTHY_MS = 60_000;
/**
 * From its start, or from the end of the one before, until nobody waits for it any longer: on a
 * busy machine a browser takes more than ten seconds, and one that can't start mostly says so
 * before.
 */
const PATIENCE_MS = 25_000;
const STOP_TIMEOUT_MS = 15_000;

/** Starts the process; whether it can render yet is for `untilReady` to say. */
export function superviseRenderer(options: RendererProcessOptions): RendererProcess {
  const { onEvent } = options;
  const readiness = createReadiness({
    patienceMs: PATIENCE_MS,
    onLate: () => onEvent({ kind: 'renderer_late', afterMs: PATIENCE_MS }),
  });
  let child: ChildProcess;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = RESTART_MS_MIN;
  let isClosing = false;
  let mustReload = false;

  const start = (): void => {
    const startedAt = performance.now();
    child = spawnService(options);
    onEvent({ kind: 'renderer_started', pid: child.pid });
    listenTo(child, {
      ready: () => {
        readiness.succeed();
        onEvent({ kind: 'renderer_ready', startMs: Math.round(performance.now() - startedAt) });
        if (mustReload) child.kill('SIGHUP');
        mustReload = false;
      },
      failed: readiness.fail,
      ended: (end) => ended(startedAt, end),
    });
  };

  const ended = (startedAt: number, end: ServiceEnd): void => {
    if (isClosing || timer !== undefined) return;
    if (performance.now() - startedAt > HEALTHY_MS) pauseMs = RESTART_MS_MIN;
    const wasReady = readiness.isReady();
    onEvent({ kind: 'renderer_ended', ...end, wasReady, restartMs: pauseMs });
    if (wasReady && pauseMs <= AWAITED_RESTART_MS_MAX) readiness.begin();
    else readiness.fail(end.reason ?? `it ended with ${end.signal ?? `status ${end.code}`}`);
    timer = setTimeout(() => {
      timer = undefined;
      start();
    }, pauseMs);
    pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
  };

  readiness.begin();
  start();
  return {
    untilReady: readiness.untilReady,
    reload: () => {
      // Before it has read its configuration it would be ended by the signal.
      if (readiness.isReady()) child.kill('SIGHUP');
      else mustReload = true;
    },
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      readiness.fail('the gateway stops');
      await stop(child);
    },
  };
}

interface ServiceListener {
  readonly ready: () => void;
  readonly failed: (reason: string) => void;
  readonly ended: (end: ServiceEnd) => void;
}

function listenTo(service: ChildProcess, { ready, failed, ended }: ServiceListener): void {
  let reason: string | null = null;
  service.on('message', (message: unknown) => {
    const word = readRendererWord(message);
    // What it said last may come after its end.
    if (word?.kind === 'ready' && isRunning(service)) ready();
    if (word?.kind === 'failed') {
      reason = word.reason;
      failed(reason);
    }
  });
  service.on('error', ({ message }) => {
    // Instead of `exit`, when it could not be started at all.
    if (service.pid === undefined) ended({ code: null, signal: null, reason: message });
  });
  service.once('exit', (code, signal) => ended({ code, signal, reason }));
}

function spawnService({
  command: [program, ...args],
  socketPath,
  env,
  output,
}: RendererProcessOptions): ChildProcess {
  const child = spawn(program, [...args, '--socket', socketPath], {
    env,
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  child.stdout?.pipe(output, { end: false });
  return child;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Asks it to end, and makes it when it doesn't. */
async function stop(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
