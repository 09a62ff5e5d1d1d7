// The public ports of a gateway, in the process that leads it: they stay open while those who serve
// them come and go.
import type { Socket } from 'node:net';
import type { ListenAddress, Settings } from '../config/settings.ts';
import { type OpenPort, openPort, type PortOptions } from '../server/door/open-port.ts';
import type { Releases } from './releases.ts';
import type { Addresses } from './serving.ts';

/** HTTP, HTTPS, and where pages are asked for by their URL. */
export type PortName = 'plain' | 'secure' | 'pull';

export function isPortName(text: string): text is PortName {
  return text === 'plain' || text === 'secure' || text === 'pull';
}

export interface OpenPorts {
  readonly addresses: Addresses;
  /** Accepts no more. */
  readonly close: () => void;
}

export interface PortsOptions extends Pick<PortOptions, 'isPaused'> {
  readonly onConnection: (port: PortName, socket: Socket) => void;
}

/** Opens all of them; those that are open already are released when a later one fails. */
export async function openPorts(
  { server, integration }: Settings,
  { isPaused, onConnection }: PortsOptions,
  releases: Releases,
): Promise<OpenPorts> {
  const opened = new Map<PortName, OpenPort>();
  const open = async (name: PortName, listen: ListenAddress | undefined): Promise<void> => {
    if (listen === undefined) return;
    const port = await openPort(listen, {
      isPaused,
      onConnection: (socket) => onConnection(name, socket),
    });
    opened.set(name, port);
    releases.add(port.close);
  };
  await open('plain', server.listen);
  await open('secure', server.tls?.listen);
  await open('pull', integration?.listen);
  return {
    addresses: {
      listen: [...opened.values()].map(({ address }) => address),
      port: opened.get('plain')?.port ?? 0,
      integrationPort: opened.get('pull')?.port ?? null,
    },
    close: () => {
      for (const port of opened.values()) port.close();
    },
  };
}
