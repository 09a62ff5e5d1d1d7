// The only way out for a rendered page: a proxy on loopback that lives as long as the render. All
// that a page can do passes here (documents, workers, prefetches, redirects, WebSocket), so this is
// where it is decided where it may go: its own host's configured origin, or public addresses.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { RENDER_LIMITS } from '../limits.ts';
import type { ConnectPublic, PublicTarget } from '../options.ts';
import { RefusedError } from './connect-public.ts';
import { type Destination, locate, parseAuthority } from './destination.ts';
import { type Forwarding, forwardToOrigin, join, upgradeToOrigin } from './forward-origin.ts';
import { forwardToPublic } from './forward-public.ts';
import { openTunnel } from './open-tunnel.ts';
import type { OriginRoute } from './origin-route.ts';

export interface EgressOptions {
  readonly route: OriginRoute;
  /** Whether a name belongs to the page's own host. */
  readonly isOwnHost: (name: string) => boolean;
  readonly connectPublic: ConnectPublic;
  readonly secureContext: SecureContext;
}

const TUNNEL_OPEN = 'HTTP/1.1 200 OK\r\n\r\n';
const TUNNEL_REFUSED = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n';

/** Starts the proxy of one render. */
export async function createEgress(options: EgressOptions): Promise<Egress> {
  const egress = new Egress(options);
  await egress.listen();
  return egress;
}

export class Egress {
  readonly #options: EgressOptions;
  readonly #server: Server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 });
  readonly #ended = new AbortController();
  readonly #sockets = new Set<Duplex>();
  /** Connections inside a tunnel to the own host, by the authority the page uses. */
  readonly #tunnels = new WeakMap<Duplex, string>();
  #originFailure: Error | null = null;
  #refusals = 0;

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#server.maxConnections = RENDER_LIMITS.egressConnectionsMax;
    this.#server.on('connection', (socket) => this.#track(socket));
    this.#server.on('request', (request, response) => this.#onRequest(request, response));
    this.#server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head));
    this.#server.on('connect', (request, socket, head) => this.#onConnect(request, socket, head));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** `http://127.0.0.1:<port>` */
  get proxyUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Why the origin did not answer the first request that failed. */
  get originFailure(): Error | null {
    return this.#originFailure;
  }

  /** Connections the page was refused. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Ends every connection. */
  close(): void {
    this.#ended.abort();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const destination = locate(request, this.#tunnels.get(request.socket));
    if (destination === null) response.writeHead(400).end();
    else if (this.#options.isOwnHost(destination.target.host)) {
      forwardToOrigin(request, response, this.#forwarding(destination));
    } else {
      forwardToPublic(request, response, {
        destination,
        connect: () => this.#connect(destination.target),
      });
    }
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const destination = locate(request, this.#tunnels.get(socket));
    if (destination === null || !this.#options.isOwnHost(destination.target.host)) socket.destroy();
    else upgradeToOrigin(request, { socket, head }, this.#forwarding(destination));
  }

  #onConnect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const authority = request.url ?? '';
    const target = parseAuthority(authority);
    if (target === null || this.#tunnels.has(socket)) {
      socket.destroy();
    } else if (this.#options.isOwnHost(target.host)) {
      socket.write(TUNNEL_OPEN);
      socket.unshift(head);
      openTunnel(socket, this.#options.secureContext, (inner) => {
        this.#tunnels.set(inner, authority);
        this.#server.emit('connection', inner);
      });
    } else {
      this.#connect(target).then(
        (upstream) => {
          socket.write(TUNNEL_OPEN);
          upstream.write(head);
          join(socket, upstream);
        },
        () => socket.end(TUNNEL_REFUSED),
      );
    }
  }

  #forwarding({ authority, path }: Destination): Forwarding {
    return {
      route: this.#options.route,
      authority,
      target: path,
      signal: this.#ended.signal,
      onFailure: (error) => {
        this.#originFailure ??= error;
      },
    };
  }

  async #connect(target: PublicTarget): Promise<Duplex> {
    try {
      const socket = await this.#options.connectPublic(target, this.#ended.signal);
      this.#track(socket);
      return socket;
    } catch (error) {
      if (error instanceof RefusedError) this.#refusals += 1;
      throw error;
    }
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // Whoever uses the socket sees its end; an error must not end the process.
    socket.on('error', () => undefined);
  }
}
