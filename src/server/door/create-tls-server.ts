// The public HTTPS listener: HTTP/2 where the client speaks it, else HTTP/1.1 through the very same
// door. Certificates are replaced on reload with `setSecureContext`.
import type { RequestListener } from 'node:http';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { inspectConnection, keepPeerAddress } from './connection.ts';
import { attachDoor, type HttpServerOptions, nodeLimits } from './create-http-server.ts';
import { limitConnections } from './limit-connections.ts';
import { watchConnection, watchStream } from './watch-download.ts';

export interface Certificate {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Streams one client may have open on a connection. */
const CONCURRENT_STREAMS_MAX = 128;

/** The TLS server that stands in front of the site. Not listening yet. */
export function createTlsServer(
  options: HttpServerOptions,
  certificate: Certificate,
  handler: RequestListener,
): Http2SecureServer {
  const { limits } = options;
  const server = createSecureServer({
    ...nodeLimits(limits),
    ...certificate,
    allowHTTP1: true,
    handshakeTimeout: limits.headersTimeoutMs,
    settings: {
      maxConcurrentStreams: CONCURRENT_STREAMS_MAX,
      maxHeaderListSize: limits.headerBytesMax,
      enableConnectProtocol: false,
    },
  });
  limitConnections(server, limits.connectionsMax);
  // Only here is the socket under a session at hand: Node makes the session in its own listener for
  // this event, and hides the socket behind it.
  let newest: TLSSocket | null = null;
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    newest = socket;
    keepPeerAddress(socket);
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return;
    inspectConnection(socket);
    watchConnection(socket, limits.bodyIdleTimeoutMs);
  });
  server.on('session', (session) => {
    const socket = newest;
    session.setTimeout(limits.keepAliveTimeoutMs, () => session.close());
    session.on('stream', (stream: ServerHttp2Stream) => {
      if (socket !== null) watchStream(stream, socket, limits.bodyIdleTimeoutMs);
    });
  });
  attachDoor(server, options, {
    handler,
    readAgain: (socket) => server.emit('secureConnection', socket),
  });
  return server;
}
