// Connections that were used once and are kept open, as those of people and of CDNs are.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mapParallel } from '../../helpers/map-parallel.ts';

const OPENED_AT_ONCE = 100;
const REQUEST = 'HEAD / HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: idle\r\n\r\n';

/** Opens them, each with one answer; resolves to what closes them. */
export async function holdConnections(port: number, count: number): Promise<() => void> {
  const sockets: Socket[] = [];
  await mapParallel(OPENED_AT_ONCE, Array.from({ length: count }), async () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    // The gateway may have enough of it before the bench has.
    socket.on('error', () => socket.destroy());
    await once(socket, 'connect');
    socket.write(REQUEST);
    await once(socket, 'data');
    socket.resume();
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
