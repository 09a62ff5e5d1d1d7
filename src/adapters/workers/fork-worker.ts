// One worker process, as the primary sees it. Workers share the public listeners: the primary
// accepts, and hands each connection to the next worker that is free (Node's round robin).
import cluster from 'node:cluster';
import { type Channel, createChannel, type Listener } from './channel.ts';

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
  /** Counts from 1; never given twice. */
  readonly id: number;
  readonly pid: number | undefined;
  readonly channel: Channel;
  readonly exited: Promise<WorkerExit>;
  /** Ends it at once. */
  readonly kill: () => void;
}

/** Starts one; it says itself how far it is. */
export function forkWorker({ path, execArgv }: WorkerProgram, listener: Listener): WorkerProcess {
  cluster.setupPrimary({ exec: path, execArgv: [...execArgv], args: [] });
  const worker = cluster.fork();
  const channel = createChannel(
    {
      // It may end at any moment: `exited` tells, and what was asked of it is unavailable.
      send: (frame) => {
        if (worker.isConnected()) worker.send(frame, () => undefined);
      },
    },
    listener,
  );
  worker.on('message', channel.receive);
  const exited = new Promise<WorkerExit>((resolve) => {
    const end = (code: number | null, signal: string | null): void => {
      channel.close();
      resolve({ code, signal });
    };
    worker.once('exit', end);
    // Instead of `exit`, when it could not be started at all.
    worker.on('error', () => {
      if (worker.process.pid === undefined) end(null, null);
    });
  });
  return {
    id: worker.id,
    pid: worker.process.pid,
    channel,
    exited,
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
