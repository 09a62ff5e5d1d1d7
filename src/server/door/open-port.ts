// A listening socket, apart from the server that reads from its connections: so it can stay open
// while servers come and go, in this process or in others.
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../../config/settings.ts';

export interface OpenPort {
  /** As it is announced. */
  readonly address: string;
  readonly port: number;
  /** Accepts no more; open connections go on. */
  readonly close: () => void;
}

export interface PortOptions {
  /** Connections are not read from yet: for who hands them on. */
  readonly isPaused: boolean;
  readonly onConnection: (socket: Socket) => void;
}

const TCP_KEEP_ALIVE_MS = 30_000;
/** `localhost` may name an address that this machine does not have. */
const MISSING: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Throws the system's error when it can't be opened. */
export async function openPort(
  { host, port }: ListenAddress,
  options: PortOptions,
): Promise<OpenPort> {
  const [main = host, ...others] = host === 'localhost' ? await addressesOf(host) : [host];
  const first = await listen(main, port, options);
  const { address, family, port: given } = first.address() as AddressInfo;
  const servers = [first];
  for (const other of others) {
    try {
      servers.push(await listen(other, given, options));
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && MISSING.has(cause.code)) continue;
      for (const server of servers) server.close();
      throw cause;
    }
  }
  return {
    address: `${family === 'IPv6' ? `[${address}]` : address}:${given}`,
    port: given,
    close: () => {
      for (const server of servers) server.close();
    },
  };
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' });
  return [...new Set(found.map(({ address }) => address))];
}

async function listen(
  host: string,
  port: number,
  { isPaused, onConnection }: PortOptions,
): Promise<Server> {
  const server = createServer(
    {
      pauseOnConnect: isPaused,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      noDelay: true,
    },
    onConnection,
  );
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}
