// A port that nobody listens on now, for programs that want to be told theirs.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Free on loopback when this resolves; whoever is quicker may still take it. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
