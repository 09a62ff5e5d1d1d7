// What a client sends before its upgrade is accepted: kept back, bounded, and read at all only
// because a socket nobody reads never says that its peer has gone.
import type { Duplex } from 'node:stream';

const EARLY_BYTES_MAX = 65_536;

export interface EarlyBytes {
  /** Stops reading and gives what came. */
  readonly release: () => Buffer;
}

/**
 * Reads ahead on a socket until released; a peer that ends is closed.
 *
 * @param head bytes that came with the request head
 */
export function holdEarlyBytes(socket: Duplex, head: Buffer): EarlyBytes {
  const chunks: Buffer[] = [head];
  let bytes = head.length;
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > EARLY_BYTES_MAX) socket.pause();
  };
  const onEnd = (): void => void socket.destroy();
  socket.on('data', onData);
  socket.on('end', onEnd);
  return {
    release: () => {
      socket.pause();
      socket.removeListener('data', onData);
      socket.removeListener('end', onEnd);
      return Buffer.concat(chunks);
    },
  };
}
