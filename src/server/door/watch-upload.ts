// Ends uploads that stall (slow body attacks): a timer per request with a body, looking whether any
// byte came since it last looked. A client that we ourselves hold back is not stalling.
import type { IncomingMessage } from 'node:http';

/**
 * Calls `onStalled` once when no byte of the body came for `idleMs` (at most twice that).
 *
 * @param request a request whose body is still arriving
 */
export function watchUpload(request: IncomingMessage, idleMs: number, onStalled: () => void): void {
  const { socket } = request;
  let bytesSeen = socket.bytesRead;
  const timer = setInterval(() => {
    if (request.complete || request.destroyed) {
      clearInterval(timer);
      return;
    }
    const isHeldBack = request.readableLength > 0;
    if (socket.bytesRead === bytesSeen && !isHeldBack) {
      clearInterval(timer);
      onStalled();
    }
    bytesSeen = socket.bytesRead;
  }, idleMs).unref();
  request.once('close', () => clearInterval(timer));
}
