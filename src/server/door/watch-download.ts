// Ends what nobody reads (slow read attacks): bytes that wait to be sent hold memory for as long as
// the client likes. A timer per HTTP/1.1 connection, tunnels included, and per HTTP/2 stream looks
// whether any of them went. Progress counts, not time: a slow reader that keeps reading is served,
// and a silent event stream has nothing waiting.
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const watched = new WeakSet<Duplex>();

/** When a stream on this connection last got on, by the monotonic clock. */
const progressAtMs = new WeakMap<Socket, number>();

/** Destroys an HTTP/1.1 connection that stalls for `idleMs` (at most twice that). */
export function watchConnection(socket: Socket, idleMs: number): void {
  // A socket that was handed to the server anew has its timer already.
  if (watched.has(socket)) return;
  watched.add(socket);
  watchSink(socket, idleMs, {
    sent: () => socket.bytesWritten - socket.writableLength,
    onStalled: () => void socket.destroy(),
  });
}

/**
 * Resets an HTTP/2 stream that stalls, or destroys its connection when nothing on it gets on.
 *
 * @param socket under the session; the session itself would wait for its last frames to be read
 */
export function watchStream(stream: ServerHttp2Stream, socket: Socket, idleMs: number): void {
  let drains = 0;
  const noteProgress = (): void => {
    drains += 1;
    progressAtMs.set(socket, performance.now());
  };
  stream.on('drain', noteProgress);
  stream.once('finish', noteProgress);
  watchSink(stream, idleMs, {
    sent: () => `${drains} ${stream.writableLength}`,
    onStalled: () => {
      const movedAtMs = progressAtMs.get(socket) ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - movedAtMs < idleMs) stream.close(constants.NGHTTP2_CANCEL);
      else socket.destroy();
    },
  });
}

interface Watch {
  /** Differs from the last time when bytes have gone. */
  readonly sent: () => number | string;
  /** Called again as long as it lasts: a reset may wait behind the very bytes nobody reads. */
  readonly onStalled: () => void;
}

function watchSink(sink: Duplex, idleMs: number, { sent, onStalled }: Watch): void {
  let sentBefore = sent();
  let wasWaiting = false;
  const timer = setInterval(() => {
    const sentNow = sent();
    const isWaiting = sink.writableLength > 0;
    if (sentNow === sentBefore && isWaiting && wasWaiting) onStalled();
    sentBefore = sentNow;
    wasWaiting = isWaiting;
  }, idleMs).unref();
  sink.once('close', () => clearInterval(timer));
}
