// The public HTTP/1.1 listener: Node's server with every limit and timeout written out, and the
// door in front of whatever handles requests (Fastify's handler, through its `serverFactory`).
// `insecureHTTPParser` is never set; Node's parser is only the first of two readers.
import type { EventEmitter } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServerLimits } from '../../config/settings.ts';
import { admitRequest, admitUpgrade, type DoorOptions, limitUpload } from './admit-request.ts';
import { refuseConnection, refuseRequest } from './answer-refusal.ts';
import { ignoreConnection, inspectConnection, keepPeerAddress } from './connection.ts';
import { handleClientError } from './handle-client-error.ts';
import { handleInTurn } from './handle-in-turn.ts';
import { createLanes, type TakeTurn } from './lane.ts';
import { limitConnections } from './limit-connections.ts';
import type { RefusalReason } from './refusals.ts';
import { headWithoutUpgrade, isWebSocketHandshake } from './upgrades.ts';
import { watchConnection } from './watch-download.ts';

/** Handles a WebSocket handshake that passed the door; the socket is its own from then on. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface HttpServerOptions extends DoorOptions {
  readonly onUpgrade: UpgradeListener;
  /** Answers some requests from their bytes. */
  readonly lane?: TakeTurn;
}

/** How often Node looks for expired connections: the error of every timeout it keeps. */
const CHECKING_INTERVAL_MS = 2_000;
/** Longest whole upload. Stalls end much earlier; this bounds an attacker who drips. */
const UPLOAD_TIMEOUT_MS = 3_600_000;

/** The limits Node enforces itself, for this listener and the TLS one. */
export function nodeLimits(limits: ServerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECKING_INTERVAL_MS, limits.headersTimeoutMs),
    // The door asks for Host itself, so that its absence is counted and answered like the rest.
    requireHostHeader: false,
  };
}

/**
 * The server that stands in front of the site. Not listening yet.
 *
 * @param handler gets only what passed the door, with `request.url` in origin form
 */
export function createHttpServer(options: HttpServerOptions, handler: RequestListener): Server {
  const { limits, lane } = options;
  const server = createServer(nodeLimits(limits));
  limitConnections(server, limits.connectionsMax);
  const { keepAliveTimeoutMs } = limits;
  const interpose = lane && createLanes(server, { take: lane, keepAliveTimeoutMs });
  server.on('connection', (socket: Socket) => {
    keepPeerAddress(socket);
    inspectConnection(socket);
    interpose?.(socket);
    watchConnection(socket, limits.bodyIdleTimeoutMs);
  });
  attachDoor(server, options, {
    handler,
    readAgain: (socket) => server.emit('connection', socket),
  });
  return server;
}

interface Behind {
  readonly handler: RequestListener;
  /** Hands a socket to the HTTP/1.1 parser as if it had just connected. */
  readonly readAgain: (socket: Duplex) => void;
}

/** The listeners both servers share: HTTP/1.1 is judged alike with and without TLS. */
export function attachDoor(
  server: EventEmitter & { maxHeadersCount?: number | null; timeout?: number },
  options: HttpServerOptions,
  { handler, readAgain }: Behind,
): void {
  // Node drops fields beyond its count silently; with none, the header size bounds them and the
  // door sees every one.
  server.maxHeadersCount = 0;
  server.timeout = 0;
  const admitThenHandle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!admitRequest(request, response, options)) return;
    handleInTurn({ request, response }, () => {
      limitUpload({ request, response }, options);
      handler(request, response);
    });
  };
  const refuse = (response: ServerResponse, reason: RefusalReason): void => {
    options.onRefused(reason);
    refuseRequest(response, reason);
  };
  server.on('request', admitThenHandle);
  // `100 Continue` is sent when somebody starts to read the body. Until then the client may never
  // send it, so an answer without it has to close the connection.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false;
    admitThenHandle(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    if (admitRequest(request, response, options)) refuse(response, 'expectation');
  });
  server.on('connect', (_request: IncomingMessage, client: Duplex | ServerResponse) => {
    if ('writeHead' in client) {
      refuse(client, 'method');
      return;
    }
    options.onRefused('method');
    refuseConnection(client, 'method');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!admitUpgrade(request, socket, options)) return;
    ignoreConnection(socket);
    if (isWebSocketHandshake(request)) {
      options.onUpgrade(request, socket, head);
      return;
    }
    readAgain(socket);
    socket.unshift(Buffer.concat([Buffer.from(headWithoutUpgrade(request), 'latin1'), head]));
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    handleClientError(error, socket, options.onRefused);
  });
}
