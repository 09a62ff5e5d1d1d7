// Ports that nobody listens on now, for programs that want to be told theirs.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Free on loopback when this resolves; whoever is quicker may still take it. */
export async function findFreePort(): Promise<number> {
  const { port, release } = await holdPort();
  await release();
  return port;
}

/** Two different ones: both are held until both are found. */
export async function findFreePorts(): Promise<readonly [number, number]> {
  const [one, other] = [await holdPort(), await holdPort()];
  await Promise.all([one.release(), other.release()]);
  return [one.port, other.port];
}

interface HeldPort {
  readonly port: number;
  readonly release: () => Promise<unknown>;
}

async function holdPort(): Promise<HeldPort> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, release: () => once(server.close(), 'close') };
}
