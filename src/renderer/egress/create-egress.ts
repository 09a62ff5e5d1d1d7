// The only way out for a rendered page: a proxy on loopback that lives as long as the render. All
// that a page can do passes here (documents, workers, prefetches, redirects, WebSocket), so this is
// where it is decided where it may go: its own host's configured origin, or public addresses.
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import { filterEndToEnd } from '../../core/http/filter-headers.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { ConnectPublic, PublicTarget } from '../options.ts';
import { RefusedError } from './connect-public.ts';
import { type Forwarding, forwardToOrigin, join, upgradeToOrigin } from './forward-origin.ts';
import { answerHeaders, type OriginRoute, pairs } from './origin-route.ts';

export interface EgressOptions {
  readonly route: OriginRoute;
  /** Whether a name belongs to the page's own host. */
  readonly isOwnHost: (name: string) => boolean;
  readonly connectPublic: ConnectPublic;
  readonly secureContext: SecureContext;
}

export interface Egress {
  /** `http://127.0.0.1:<port>` */
  readonly proxyUrl: string;
  /** Why the origin did not answer the first request that failed. */
  readonly originFailure: () => Error | null;
  /** Connections the page was refused. */
  readonly refusals: () => number;
  /** Ends every connection. */
  readonly close: () => void;
}

/** Starts the proxy of one render. */
export async function createEgress(options: EgressOptions): Promise<Egress> {
  const ended = new AbortController();
  const sockets = new Set<Duplex>();
  /** Connections inside a tunnel to the own host, by the authority the page uses. */
  const tunnels = new WeakMap<Duplex, string>();
  let originFailure: Error | null = null;
  let refusals = 0;

  const forwarding = (authority: string, target: string): Forwarding => ({
    route: options.route,
    authority,
    target,
    signal: ended.signal,
    onFailure: (error) => {
      originFailure ??= error;
    },
  });
  const connect = async (target: PublicTarget): Promise<Duplex> => {
    try {
      const socket = await options.connectPublic(target, ended.signal);
      track(sockets, socket);
      return socket;
    } catch (error) {
      if (error instanceof RefusedError) refusals += 1;
      throw error;
    }
  };
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 });
  server.maxConnections = RENDER_LIMITS.egressConnectionsMax;
  server.on('connection', (socket) => track(sockets, socket));

  server.on('request', (request, response) => {
    const place = locate(request, tunnels.get(request.socket));
    if (place === null) return void response.writeHead(400).end();
    if (options.isOwnHost(place.target.host)) {
      return forwardToOrigin(request, response, forwarding(place.authority, place.path));
    }
    return void passToPublic(request, connect, place).then(
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer));
        answer.once('aborted', () => response.destroy());
        answer.on('error', () => response.destroy());
        answer.pipe(response);
      },
      // The page sees a lost connection, as it would without us.
      () => response.destroy(),
    );
  });
  server.on('upgrade', (request, socket, head) => {
    const place = locate(request, tunnels.get(socket));
    if (place === null || !options.isOwnHost(place.target.host)) return void socket.destroy();
    upgradeToOrigin(request, { socket, head }, forwarding(place.authority, place.path));
  });
  server.on('connect', (request, socket, head) => {
    const target = parseAuthority(request.url ?? '');
    if (target === null || tunnels.has(socket)) return void socket.destroy();
    if (options.isOwnHost(target.host)) {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.unshift(head);
      const authority = request.url ?? '';
      return openOwnTunnel(server, socket, options.secureContext, (inner) =>
        tunnels.set(inner, authority),
      );
    }
    return void connect(target).then(
      (upstream) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.write(head);
        join(socket, upstream);
      },
      () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
    );
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    proxyUrl: `http://127.0.0.1:${port}`,
    originFailure: () => originFailure,
    refusals: () => refusals,
    close: () => {
      ended.abort();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Place {
  readonly authority: string;
  readonly target: PublicTarget;
  /** Path and query, as text. */
  readonly path: string;
}

/** Where a request goes: its absolute URL, or the tunnel it came through. */
function locate(request: IncomingMessage, tunnel: string | undefined): Place | null {
  const url = request.url ?? '';
  const [, absolute, path] = /^http:\/\/([^/?#@]+)(\/.*)$/s.exec(url) ?? [];
  const authority = tunnel ?? absolute;
  const relative = url.startsWith('/') ? url : undefined;
  const chosen = tunnel === undefined ? path : relative;
  if (authority === undefined || chosen === undefined) return null;
  const target = parseAuthority(authority);
  return target === null ? null : { authority: publicAuthority(authority), target, path: chosen };
}

/** As a Host field has it: without the port that the scheme implies. */
function publicAuthority(authority: string): string {
  return authority.replace(/:(?:80|443)$/, '');
}

function parseAuthority(text: string): PublicTarget | null {
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  return host === undefined ? null : { host, port: Number(port ?? 80) };
}

/** A tunnel to the own host ends here: TLS or not, what is inside are requests to the origin. */
function openOwnTunnel(
  server: Server,
  socket: Duplex,
  secureContext: SecureContext,
  register: (inner: Duplex) => void,
): void {
  socket.once('data', (first: Buffer) => {
    socket.pause();
    socket.unshift(first);
    const isTls = first[0] === TLS_HANDSHAKE;
    const inner = isTls
      ? new TLSSocket(socket as TLSSocket, {
          isServer: true,
          secureContext,
          ALPNProtocols: ['http/1.1'],
        })
      : socket;
    register(inner);
    server.emit('connection', inner);
    if (!isTls) socket.resume();
  });
}

const TLS_HANDSHAKE = 0x16;

async function passToPublic(
  request: IncomingMessage,
  connect: (target: PublicTarget) => Promise<Duplex>,
  place: Place,
): Promise<IncomingMessage> {
  const socket = await connect(place.target);
  const upstream = httpRequest({
    method: request.method,
    path: place.path,
    headers: [
      ...filterEndToEnd(pairs(request.rawHeaders)),
      ...pairs(request.rawHeaders).filter(([name]) => /^content-length$/i.test(name)),
      ['connection', 'close'] as const,
    ].flat(),
    createConnection: () => socket,
  });
  request.pipe(upstream);
  const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
  return answer;
}

function track(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  // Whoever uses the socket sees its end; an error must not end the process.
  socket.on('error', () => undefined);
}
