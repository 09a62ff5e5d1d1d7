// The WebSocket of the demo site: `/ws` sends back whatever it gets, text as text, bytes as bytes.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';

/** Takes the upgrades of a server; the answer ends the open sockets. */
export function attachWebSocket(server: Server): () => void {
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    if (request.url?.split('?')[0] !== '/ws') {
      stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) =>
      sockets.emit('connection', socket, request),
    );
  });
  return () => {
    for (const socket of sockets.clients) socket.terminate();
  };
}
