// An origin made of a raw TCP server: it keeps the bytes of every request head and answers with
// exactly the bytes, or the deeds, that a test wrote down.

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface OriginTurn {
  readonly socket: Socket;
  /** The request head as it came, latin1. */
  readonly head: string;
  /** 1 for the first request of all, 2 for the second … */
  readonly requestNo: number;
  /** The same within its connection. */
  readonly requestNoOnSocket: number;
}

export interface ScriptedOrigin {
  readonly url: string;
  readonly heads: string[];
  readonly respond: (turn: (turn: OriginTurn) => void) => void;
  readonly close: () => Promise<void>;
}

/** An answer with a length, ready to be written. */
export function plainAnswer(body: string, status = '200 OK', headers = ''): string {
  const length = Buffer.byteLength(body, 'latin1');
  return `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`;
}

/** Starts one on a free loopback port; it answers a small page until told otherwise. */
export async function startScriptedOrigin(): Promise<ScriptedOrigin> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let takeTurn = ({ socket }: OriginTurn): void => {
    socket.write(plainAnswer('<p>page</p>', '200 OK', 'Content-Type: text/html\r\n'));
  };
  const server = createServer((socket) => {
    let requestNoOnSocket = 0;
    let pending = '';
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that resets is part of what is tested.
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      const end = pending.indexOf('\r\n\r\n');
      if (end === -1) return;
      const head = pending.slice(0, end + 4);
      pending = pending.slice(end + 4);
      heads.push(head);
      requestNoOnSocket += 1;
      takeTurn({ socket, head, requestNo: heads.length, requestNoOnSocket });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heads,
    respond: (turn) => {
      takeTurn = turn;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
