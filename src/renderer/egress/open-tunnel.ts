// A tunnel to the page's own host ends with us: what is inside are requests for the origin, in TLS
// when the page is https, plain when it is a WebSocket over http.
import type { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';

/** First byte of a TLS handshake record (RFC 8446 §5.1). */
const HANDSHAKE = 0x16;

/** Takes TLS off, if there is any, and hands the inner connection over. */
export function openTunnel(
  socket: Duplex,
  secureContext: SecureContext,
  use: (inner: Duplex) => void,
): void {
  socket.once('data', (first: Buffer) => {
    socket.pause();
    socket.unshift(first);
    if (first[0] === HANDSHAKE) {
      const options = { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] };
      // Node's types ask for a net.Socket; a CONNECT hands us exactly that, under a wider type.
      use(new TLSSocket(socket as TLSSocket, options));
    } else {
      use(socket);
      socket.resume();
    }
  });
}
