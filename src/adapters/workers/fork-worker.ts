// One worker process, as the primary sees it. It gets its connections one by one from the primary,
// which accepts them: a port that Node's cluster shares out by itself would lose the connection
// that is on its way to a worker when that one dies, and go away with the last worker. A worker of
// that module also greets before a line of ours has run, and prints a trace when nobody is there.
import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { createWorkerChannel, type Listener, type WorkerChannel } from './channel.ts';
import { type ConnectionMessage, readAccepted } from './connection-messages.ts';

export interface WorkerProgram {
  readonly path: string;
  /** For Node, before the path. */
  readonly execArgv: readonly string[];
}

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly channel: WorkerChannel;
  /** Hands a connection over, as number `id`; the own copy of the socket stays open. */
  readonly give: (port: string, id: number, socket: Socket) => void;
  readonly exited: Promise<WorkerExit>;
  /** Ends it at once. */
  readonly kill: () => void;
}

export interface WorkerListener extends Listener {
  /** It took a connection. */
  readonly accepted: (id: number) => void;
}

/** Starts one; it says itself how far it is. */
export function forkWorker(
  { path, execArgv }: WorkerProgram,
  listener: WorkerListener,
): WorkerProcess {
  const worker = fork(path, { execArgv: [...execArgv] });
  const channel = createWorkerChannel(
    {
      // It may end at any moment: `exited` tells, and what was asked of it is unavailable.
      send: (frame) => {
        if (worker.connected) worker.send(frame, () => undefined);
      },
    },
    listener,
  );
  worker.on('message', (message: unknown) => {
    const id = readAccepted(message);
    if (id === null) channel.receive(message);
    else listener.accepted(id);
  });
  const exited = new Promise<WorkerExit>((resolve) => {
    const end = (code: number | null, signal: string | null): void => {
      channel.close();
      resolve({ code, signal });
    };
    worker.once('exit', end);
    // Instead of `exit`, when it could not be started at all.
    worker.on('error', () => {
      if (worker.pid === undefined) end(null, null);
    });
  });
  return {
    pid: worker.pid,
    channel,
    give: (port, id, socket) => {
      if (!worker.connected) return;
      const message: ConnectionMessage = { kind: 'connection', port, id };
      worker.send(message, socket, { keepOpen: true }, () => undefined);
    },
    exited,
    kill: () => void worker.kill('SIGKILL'),
  };
}
