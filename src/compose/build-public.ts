// The servers that serve pages: HTTP always, HTTPS with HTTP/2 and the pull endpoints where they
// are switched on. Their connections come from elsewhere: the ports may belong to another process.
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Config, Settings, TlsSettings } from '../config/settings.ts';
import { isLoopback } from '../config/values/parse-listen.ts';
import { createHttpServer } from '../server/door/create-http-server.ts';
import { type Certificate, createTlsServer } from '../server/door/create-tls-server.ts';
import { type Drain, watchForDrain } from '../server/door/drain.ts';
import type { RefusalReason } from '../server/door/refusals.ts';
import { createGatewayApp } from '../server/gateway/create-gateway-app.ts';
import type { GatewayApp } from '../server/gateway/gateway-deps.ts';
import { createIntegrationApp } from '../server/integration/create-integration-app.ts';
import { createLane, type LaneDeps } from '../server/lane/create-lane.ts';
import type { PortName } from './open-ports.ts';
import type { Releases } from './releases.ts';
import { STOP_DEADLINE_MS } from './stop.ts';

export interface PublicServers {
  /** Serves a connection that was made to this port. */
  readonly connect: (port: PortName, socket: Socket) => void;
  /** New certificates, after a reload. */
  readonly renew: (settings: Settings) => Promise<void>;
  /**
   * Lets open requests end.
   *
   * @param idleGraceMs how long a connection may stay silent before it is closed
   */
  readonly close: (idleGraceMs: number) => Promise<void>;
}

export interface PublicDeps extends LaneDeps {
  readonly onRefused: (reason: RefusalReason) => void;
  readonly isReady: () => Promise<boolean>;
  /** What TLS sessions are resumed by, where several processes serve one port; else null. */
  readonly ticketKeys: Buffer | null;
}

/** A URL inside of a URL may be encoded whole, and something stands before it. */
const PULL_URL_BYTES_FACTOR = 3;
const PULL_URL_BYTES_MORE = 64;

export async function buildPublic(
  { settings, policies }: Config,
  releases: Releases,
  deps: PublicDeps,
): Promise<PublicServers> {
  const { urlBytesMax } = policies.limits;
  const { server, integration } = settings;
  const door = { limits: server.limits, urlBytesMax, onRefused: deps.onRefused };
  const units = new Map<PortName, Unit>();
  const add = async (port: PortName, build: Build): Promise<void> => {
    const unit = await makeUnit(build);
    units.set(port, unit);
    releases.add(async () => await unit.close({ idleGraceMs: 0, deadlineMs: 0 }));
  };
  const { headerFieldsMax, headerBytesMax, keepAliveTimeoutMs } = server.limits;
  const lane = createLane(deps, {
    limits: { headerFieldsMax, urlBytesMax },
    headerBytesMax,
    keepAliveTimeoutMs,
  });
  await add('plain', (note) =>
    createGatewayApp(deps, (onUpgrade, handler) =>
      note(createHttpServer({ ...door, onUpgrade, lane }, handler)),
    ),
  );
  if (server.tls !== null) {
    const certificate = await readCertificate(server.tls);
    await add('secure', (note) =>
      createGatewayApp(deps, (onUpgrade, handler) => {
        const secure = createTlsServer({ ...door, onUpgrade }, certificate, handler);
        if (deps.ticketKeys !== null) secure.setTicketKeys(deps.ticketKeys);
        return note(secure);
      }),
    );
  }
  if (integration !== null) {
    const isLocal = isLoopback(integration.listen);
    const pullUrlBytesMax = urlBytesMax * PULL_URL_BYTES_FACTOR + PULL_URL_BYTES_MORE;
    const pullDoor = { ...door, urlBytesMax: pullUrlBytesMax };
    await add('pull', (note) =>
      createIntegrationApp({ ...deps, isLocal }, (onUpgrade, handler) =>
        note(createHttpServer({ ...pullDoor, onUpgrade }, handler)),
      ),
    );
  }
  return {
    connect: (port, socket) => {
      const unit = units.get(port);
      if (unit === undefined) socket.destroy();
      else unit.server.emit('connection', socket);
    },
    renew: async ({ server: { tls } }) => {
      const secure = units.get('secure')?.server;
      if (tls === null || secure === undefined || !isTls(secure)) return;
      secure.setSecureContext(await readCertificate(tls));
    },
    close: async (idleGraceMs) => {
      const times = { idleGraceMs, deadlineMs: STOP_DEADLINE_MS };
      await Promise.all([...units.values()].map((unit) => unit.close(times)));
    },
  };
}

type AnyServer = Server | Http2SecureServer;
type Note = (server: AnyServer) => Server;
type Build = (note: Note) => Promise<GatewayApp>;

/** An application and its server. */
interface Unit {
  readonly server: AnyServer;
  /** Resolves when all connections have ended, or cuts them at the deadline. */
  readonly close: (times: CloseTimes) => Promise<void>;
}

interface CloseTimes {
  readonly idleGraceMs: number;
  readonly deadlineMs: number;
}

async function makeUnit(build: Build): Promise<Unit> {
  const made: { drain: Drain | null } = { drain: null };
  const { app, tunnel } = await build((server) => {
    made.drain = watchForDrain(server, isTls(server));
    // Fastify's type knows one protocol; what is written goes through write-head, which knows both.
    return server as Server;
  });
  await app.ready();
  const { server } = app;
  // It never listens itself, but Node starts the timeouts of its connections with this event.
  server.emit('listening');
  const { drain } = made;
  if (drain === null) throw new Error('Fastify built no server');
  return {
    server,
    close: async (times) => {
      await drainWithin(drain, times, tunnel.close);
      // From here on Fastify answers 503; nobody is left to get it.
      await app.close();
      server.close();
    },
  };
}

function isTls(server: AnyServer): server is Http2SecureServer {
  return 'setSecureContext' in server;
}

async function drainWithin(
  drain: Drain,
  { idleGraceMs, deadlineMs }: CloseTimes,
  cutTunnels: () => void,
): Promise<void> {
  drain.begin();
  // Again and again: a long answer may leave an idle connection behind.
  const grace = setInterval(drain.endIdle, idleGraceMs);
  const deadline = setTimeout(() => {
    cutTunnels();
    drain.cut();
  }, deadlineMs);
  await drain.ended();
  clearInterval(grace);
  clearTimeout(deadline);
}

async function readCertificate({ certFile, keyFile }: TlsSettings): Promise<Certificate> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
