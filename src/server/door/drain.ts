// The gentle end of a server. A connection ends with the answer that says so, because a close out
// of the blue would meet a request that is already on the wire; those that stay silent are closed
// after a grace period. What was upgraded is left to its tunnel.
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { connectionOf, isBusy } from './connection.ts';

export interface Drain {
  /** From now on every answer is the last one of its connection. */
  readonly begin: () => void;
  /** Closes connections with no request under way. */
  readonly endIdle: () => void;
  /** Closes all, whatever is under way. */
  readonly cut: () => void;
  /** Resolves when no connection is left. */
  readonly ended: () => Promise<void>;
}

/** @param isTls requests come over TLS, some of them by HTTP/2 */
export function watchForDrain(server: EventEmitter, isTls: boolean): Drain {
  const connections = new Set<Socket>();
  /** Over which HTTP/1.1 is spoken. */
  const sockets = new Set<Socket>();
  const streams = new Map<ServerHttp2Session, Set<ServerHttp2Stream>>();
  const responses = new Set<ServerResponse>();
  let isDraining = false;
  let onEmpty = (): void => undefined;

  server.on('connection', (socket: Socket) => {
    if (connections.has(socket)) return;
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0) onEmpty();
    });
  });
  server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return;
    sockets.add(socket);
    if (isDraining) connectionOf(socket).lane?.close();
    socket.once('close', () => sockets.delete(socket));
  });
  // Before the door, which hands a socket back as a new connection when it ignores the offer.
  server.prependListener('upgrade', (_request: IncomingMessage, socket: Socket) => {
    sockets.delete(socket);
  });
  server.on('session', (session: ServerHttp2Session) => {
    const open = new Set<ServerHttp2Stream>();
    streams.set(session, open);
    session.once('close', () => streams.delete(session));
    session.on('stream', (stream) => {
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      // GOAWAY goes out with the answer, when a client is least likely to be sending.
      if (isDraining) session.close();
    });
  });
  const note = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.httpVersionMajor === 2) return;
    responses.add(response);
    response.once('close', () => responses.delete(response));
    if (isDraining) response.shouldKeepAlive = false;
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.prependListener(event, note);
  }

  return {
    begin: () => {
      isDraining = true;
      for (const socket of sockets) connectionOf(socket).lane?.close();
      for (const response of responses) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
      for (const [session, open] of streams) if (open.size > 0) session.close();
    },
    endIdle: () => {
      for (const socket of sockets) if (!isBusy(connectionOf(socket))) socket.destroy();
      for (const [session, open] of streams) if (open.size === 0) session.close();
    },
    cut: () => {
      for (const socket of [...sockets, ...connections]) socket.destroy();
    },
    ended: async () => {
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
        if (connections.size === 0) resolve();
      });
    },
  };
}
