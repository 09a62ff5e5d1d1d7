// The primary process, as a worker sees it. When it is gone, Node ends the worker.
import cluster from 'node:cluster';
import { Socket } from 'node:net';
import process from 'node:process';
import { type Channel, createChannel, type Listener } from './channel.ts';
import { type AcceptedMessage, readConnection } from './connection-messages.ts';

export interface Primary {
  readonly channel: Channel;
  /** Of this worker. */
  readonly id: number;
}

export interface PrimaryListener extends Listener {
  /** A connection that was made to this port. */
  readonly connect: (port: string, socket: Socket) => void;
}

/** Throws in a process that no primary has forked. */
export function connectPrimary(listener: PrimaryListener): Primary {
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
  process.on('message', (message: unknown, socket: unknown) => {
    const connection = readConnection(message);
    if (connection === null) {
      channel.receive(message);
      return;
    }
    const accepted: AcceptedMessage = { kind: 'accepted', id: connection.id };
    // In one turn with the first read: what was not taken was not read from.
    if (worker.isConnected()) worker.send(accepted, () => undefined);
    // None when it ended on the way.
    if (socket instanceof Socket) listener.connect(connection.port, socket);
  });
  return { channel, id: worker.id };
}
