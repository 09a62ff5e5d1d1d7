// The listeners that serve pages: HTTP always, HTTPS with HTTP/2 and the pull endpoints where they
// are switched on.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Config, ListenAddress, Settings, TlsSettings } from '../config/settings.ts';
import { isLoopback } from '../config/values/parse-listen.ts';
import { createHttpServer } from '../server/door/create-http-server.ts';
import { type Certificate, createTlsServer } from '../server/door/create-tls-server.ts';
import { type Drain, watchForDrain } from '../server/door/drain.ts';
import type { RefusalReason } from '../server/door/refusals.ts';
import { createGatewayApp } from '../server/gateway/create-gateway-app.ts';
import type { GatewayApp, GatewayDeps } from '../server/gateway/gateway-deps.ts';
import { createIntegrationApp } from '../server/integration/create-integration-app.ts';
import type { Releases } from './releases.ts';
import type { Addresses } from './serving.ts';
import { STOP_DEADLINE_MS } from './stop.ts';

interface Listener {
  readonly address: string;
  readonly port: number;
  /** Stops accepting; resolves when all connections have ended, or cuts them at the deadline. */
  readonly close: (times: CloseTimes) => Promise<void>;
  readonly renew: (settings: Settings) => Promise<void>;
}

interface CloseTimes {
  /** How long a connection may stay silent before it is closed. */
  readonly idleGraceMs: number;
  readonly deadlineMs: number;
}

export interface PublicListeners {
  readonly addresses: Addresses;
  /** New certificates, after a reload. */
  readonly renew: (settings: Settings) => Promise<void>;
  /** Lets open requests end. */
  readonly close: (idleGraceMs: number) => Promise<void>;
}

export interface ListenDeps extends GatewayDeps {
  readonly onRefused: (reason: RefusalReason) => void;
  readonly isReady: () => Promise<boolean>;
}

const AT_ONCE: CloseTimes = { idleGraceMs: 0, deadlineMs: 0 };
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
  const door = { limits: settings.server.limits, urlBytesMax, onRefused: deps.onRefused };
  const { tls } = settings.server;
  const { integration } = settings;
  const open = async (address: ListenAddress, build: Build): Promise<Listener> => {
    const listener = await listen(address, build);
    releases.add(async () => await listener.close(AT_ONCE));
    return listener;
  };
  const plain = await open(settings.server.listen, (note) =>
    createGatewayApp(deps, (onUpgrade, handler) =>
      note(createHttpServer({ ...door, onUpgrade }, handler)),
    ),
  );
  const all = [plain];
  if (tls !== null) {
    const certificate = await readCertificate(tls);
    const build: Build = (note) =>
      createGatewayApp(deps, (onUpgrade, handler) =>
        note(createTlsServer({ ...door, onUpgrade }, certificate, handler)),
      );
    all.push(await open(tls.listen, build));
  }
  if (integration === null) return together(all, plain.port, null);
  const pullDoor = {
    ...door,
    urlBytesMax: urlBytesMax * PULL_URL_BYTES_FACTOR + PULL_URL_BYTES_MORE,
  };
  const pull = await open(integration.listen, (note) =>
    createIntegrationApp(
      { ...deps, isLocal: isLoopback(integration.listen) },
      (onUpgrade, handler) => note(createHttpServer({ ...pullDoor, onUpgrade }, handler)),
    ),
  );
  return together([...all, pull], plain.port, pull.port);
}

function together(
  all: readonly Listener[],
  port: number,
  integrationPort: number | null,
): PublicListeners {
  return {
    addresses: { listen: all.map(({ address }) => address), port, integrationPort },
    renew: async (settings) => {
      await Promise.all(all.map((one) => one.renew(settings)));
    },
    close: async (idleGraceMs) => {
      const times = { idleGraceMs, deadlineMs: STOP_DEADLINE_MS };
      await Promise.all(all.map((one) => one.close(times)));
    },
  };
}

/** A server of an application: Fastify makes a second one for `localhost`, which has two addresses. */
interface OpenServer {
  readonly server: Server | Http2SecureServer;
  readonly drain: Drain;
}

type Note = (server: Server | Http2SecureServer) => Server;
type Build = (note: Note) => Promise<GatewayApp>;

async function listen({ host, port }: ListenAddress, build: Build): Promise<Listener> {
  const servers: OpenServer[] = [];
  const { app, tunnel } = await build((server) => {
    servers.push({ server, drain: watchForDrain(server, connectionEvent(server)) });
    // Fastify's type knows one protocol; what is written goes through write-head, which knows both.
    return server as Server;
  });
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    address: `${name}:${address.port}`,
    port: address.port,
    renew: async (settings) => {
      const { tls } = settings.server;
      for (const { server } of servers) {
        if (tls !== null && isTls(server)) server.setSecureContext(await readCertificate(tls));
      }
    },
    close: async (times) => {
      await Promise.all(servers.map((one) => closeGently(one, times, tunnel.close)));
      tunnel.close();
      await app.close();
    },
  };
}

function isTls(server: Server | Http2SecureServer): server is Http2SecureServer {
  return 'setSecureContext' in server;
}

function connectionEvent(server: Server | Http2SecureServer): 'connection' | 'secureConnection' {
  return isTls(server) ? 'secureConnection' : 'connection';
}

/**
 * Node's own close of an HTTP server ends idle connections at once, and Fastify's answers 503 from
 * then on: both come last, when nothing is left to be hit by them.
 */
async function closeGently(
  { server, drain }: OpenServer,
  { idleGraceMs, deadlineMs }: CloseTimes,
  cutTunnels: () => void,
): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  drain.begin();
  // Again and again: a long answer may leave an idle connection behind.
  const grace = setInterval(drain.endIdle, idleGraceMs);
  const deadline = setTimeout(() => {
    cutTunnels();
    drain.cut();
  }, deadlineMs);
  await closed;
  clearInterval(grace);
  clearTimeout(deadline);
}

async function readCertificate({ certFile, keyFile }: TlsSettings): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
