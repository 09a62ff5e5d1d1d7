// The listeners that serve pages: HTTP always, HTTPS with HTTP/2 and the pull endpoints where they
// are switched on.
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Config, ListenAddress, Settings, TlsSettings } from '../config/settings.ts';
import { isLoopback } from '../config/values/parse-listen.ts';
import { createHttpServer } from '../server/door/create-http-server.ts';
import { type Certificate, createTlsServer } from '../server/door/create-tls-server.ts';
import type { RefusalReason } from '../server/door/refusals.ts';
import { createGatewayApp } from '../server/gateway/create-gateway-app.ts';
import type { GatewayApp, GatewayDeps } from '../server/gateway/gateway-deps.ts';
import { createIntegrationApp } from '../server/integration/create-integration-app.ts';
import type { Releases } from './releases.ts';

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Stops accepting; resolves when open requests have ended, or cuts them at the deadline. */
  readonly close: (deadlineMs: number) => Promise<void>;
  /** New certificates, after a reload; nothing for plain HTTP. */
  readonly renew: (settings: Settings) => Promise<void>;
}

export interface PublicListeners {
  readonly all: readonly Listener[];
  readonly port: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
}

export interface ListenDeps extends GatewayDeps {
  readonly onRefused: (reason: RefusalReason) => void;
  readonly isReady: () => Promise<boolean>;
}

/** A URL inside of a URL may be encoded whole, and something stands before it. */
const PULL_URL_BYTES_FACTOR = 3;
const PULL_URL_BYTES_MORE = 64;

/** Opens all of them; those that are open already are released when a later one fails. */
export async function listenPublic(
  { settings, policies }: Config,
  releases: Releases,
  deps: ListenDeps,
): Promise<PublicListeners> {
  const { urlBytesMax } = policies.limits;
  const opened = (listener: Listener): Listener => {
    releases.add(async () => await listener.close(0));
    return listener;
  };
  const door = { limits: settings.server.limits, urlBytesMax, onRefused: deps.onRefused };
  const plain = await createGatewayApp(deps, (onUpgrade, handler) =>
    createHttpServer({ ...door, onUpgrade }, handler),
  );
  const all = [opened(await listen(plain, settings.server.listen, PLAIN))];
  const { tls } = settings.server;
  if (tls !== null) {
    const certificate = await readCertificate(tls);
    const server: { current: Http2SecureServer | null } = { current: null };
    const secure = await createGatewayApp(deps, (onUpgrade, handler) => {
      server.current = createTlsServer({ ...door, onUpgrade }, certificate, handler);
      // Fastify's type knows one protocol; what is written goes through write-head, which knows
      // both.
      return server.current as unknown as Server;
    });
    all.push(opened(await listen(secure, tls.listen, trackTls(server.current))));
  }
  const port = all[0]?.port ?? 0;
  const { integration } = settings;
  if (integration === null) return { all, port, integrationPort: null };
  const pullDoor = {
    ...door,
    urlBytesMax: urlBytesMax * PULL_URL_BYTES_FACTOR + PULL_URL_BYTES_MORE,
  };
  const pull = await createIntegrationApp(
    { ...deps, isLocal: isLoopback(integration.listen) },
    (onUpgrade, handler) => createHttpServer({ ...pullDoor, onUpgrade }, handler),
  );
  const listener = opened(await listen(pull, integration.listen, PLAIN));
  return { all: [...all, listener], port, integrationPort: listener.port };
}

/** What differs between the two kinds of server. */
interface Transport {
  readonly endIdle: (app: GatewayApp['app']) => void;
  readonly cutAll: (app: GatewayApp['app']) => void;
  readonly renew: Listener['renew'];
}

const PLAIN: Transport = {
  endIdle: ({ server }) => server.closeIdleConnections(),
  cutAll: ({ server }) => server.closeAllConnections(),
  renew: async () => undefined,
};

async function listen(
  { app, tunnel }: GatewayApp,
  { host, port }: ListenAddress,
  transport: Transport,
): Promise<Listener> {
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    address: `${name}:${address.port}`,
    port: address.port,
    renew: transport.renew,
    close: async (deadlineMs) => {
      const timer = setTimeout(() => {
        tunnel.close();
        transport.cutAll(app);
      }, deadlineMs);
      // Idle connections would keep it open for as long as clients care to hold them.
      transport.endIdle(app);
      await app.close();
      tunnel.close();
      clearTimeout(timer);
    },
  };
}

/** HTTP/2 servers know their sessions only by the events that announce them. */
function trackTls(server: Http2SecureServer | null): Transport {
  if (server === null) throw new Error('Fastify built no server');
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Duplex>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    endIdle: () => {
      for (const session of sessions) session.close();
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    renew: async (settings) => {
      const { tls } = settings.server;
      if (tls !== null) server.setSecureContext(await readCertificate(tls));
    },
  };
}

async function readCertificate({ certFile, keyFile }: TlsSettings): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
