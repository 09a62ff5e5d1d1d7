// `server.limits.connections`: what is too much is closed at once. Node's own `maxConnections` only
// knows connections that the server accepted itself.
import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

export function limitConnections(server: EventEmitter, connectionsMax: number): void {
  const open = new Set<Socket>();
  server.prependListener('connection', (socket: Socket) => {
    // One that was handed over anew counts already.
    if (open.has(socket)) return;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // Not before Node's own listeners had it: they take every connection for an open one.
    if (open.size > connectionsMax) setImmediate(() => socket.destroy());
  });
}
