// The primary process, as a worker sees it. When it is gone, Node ends the worker.
import cluster from 'node:cluster';
import process from 'node:process';
import { type Channel, createChannel, type Listener } from './channel.ts';

export interface Primary {
  readonly channel: Channel;
  /** Of this worker. */
  readonly id: number;
}

/** Throws in a process that no primary has forked. */
export function connectPrimary(listener: Listener): Primary {
  const { worker } = cluster;
  if (worker === undefined) throw new Error('a worker is started by `serve`, not by hand');
  const channel = createChannel(
    {
      send: (frame) => {
        if (worker.isConnected()) worker.send(frame, () => undefined);
      },
    },
    listener,
  );
  process.on('message', channel.receive);
  return { channel, id: worker.id };
}
