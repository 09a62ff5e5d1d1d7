// The primary process, as a worker sees it. When it is gone, the worker ends.
import { Socket } from 'node:net';
import process from 'node:process';
import { createWorkerChannel, type Listener, type WorkerChannel } from './channel.ts';
import { type AcceptedMessage, readConnection } from './connection-messages.ts';

export interface PrimaryListener extends Listener {
  /** A connection that was made to this port. */
  readonly connect: (port: string, socket: Socket) => void;
}

/** Throws in a process that no primary has forked. */
export function connectPrimary(listener: PrimaryListener): WorkerChannel {
  if (process.send === undefined) throw new Error('a worker is started by `serve`, not by hand');
  process.once('disconnect', () => process.exit());
  // It may have gone before anybody listened for it.
  if (!process.connected) process.exit();
  const send = (message: object): void => {
    if (process.connected) process.send?.(message, () => undefined);
  };
  const channel = createWorkerChannel({ send }, listener);
  process.on('message', (message: unknown, socket: unknown) => {
    const connection = readConnection(message);
    if (connection === null) {
      channel.receive(message);
      return;
    }
    const accepted: AcceptedMessage = { kind: 'accepted', id: connection.id };
    // In one turn with the first read: what was not taken was not read from.
    send(accepted);
    // None when it ended on the way.
    if (socket instanceof Socket) listener.connect(connection.port, socket);
  });
  return channel;
}
