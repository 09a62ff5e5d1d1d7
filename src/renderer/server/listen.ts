// Opening the service's listener. A socket file that a dead predecessor left is replaced; one that
// somebody answers on is not.
import { once } from 'node:events';
import { chmod, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { RenderListen } from '../options.ts';

/** Listens and says where: `http://host:port` or the path of the socket. */
export async function openListener(server: Server, listen: RenderListen): Promise<string> {
  if (!('path' in listen)) {
    server.listen(listen.port, listen.host);
    await once(server, 'listening');
    const { address, port, family } = server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }
  const { path } = listen;
  if (!(await isAnswered(path))) await unlink(path).catch(() => undefined);
  server.listen(path);
  await once(server, 'listening');
  // Whoever may connect may render: only us.
  await chmod(path, 0o600);
  return path;
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // Absent or dead: the place is free.
    return false;
  } finally {
    socket.destroy();
  }
}
