// Reads a body for the store while it goes to the one who asked for it. The reading belongs to no
// client: a slow one does not hold it up, one that leaves does not end it. What turns out too large
// to keep goes on for its client alone, at that client's pace.
import { Readable } from 'node:stream';

export interface Collecting {
  /** The same bytes, for the one who asked. */
  readonly stream: Readable;
  /** All of them; null when they were cut, stalled or too many. Never rejects. */
  readonly whole: Promise<Buffer | null>;
}

export interface CollectLimits {
  readonly bytesMax: number;
  /** Nothing comes for so long: it will never be whole. */
  readonly idleMs: number;
}

export function collectBody(body: Readable, { bytesMax, idleMs }: CollectLimits): Collecting {
  let chunks: Buffer[] | null = [];
  let bytes = 0;
  let isWhole = false;
  let settle = (_whole: Buffer | null): void => undefined;
  const whole = new Promise<Buffer | null>((resolve) => {
    settle = resolve;
  });
  const timer = setTimeout(() => body.destroy(new Error('stalled')), idleMs);
  const stream = new Readable({
    read: () => void body.resume(),
    destroy: (error, done) => {
      if (chunks === null) body.destroy();
      done(error);
    },
  });
  // Whoever writes it out sees that it was closed before its end.
  stream.on('error', () => undefined);
  const giveUp = (): void => {
    chunks = null;
    clearTimeout(timer);
    settle(null);
    if (stream.destroyed) body.destroy();
  };
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (chunks !== null && bytes > bytesMax) giveUp();
    if (chunks !== null) {
      chunks.push(chunk);
      timer.refresh();
    }
    const hasRoom = stream.destroyed || stream.push(chunk);
    if (!hasRoom && chunks === null) body.pause();
  });
  body.once('end', () => {
    isWhole = true;
    settle(chunks === null ? null : Buffer.concat(chunks, bytes));
    if (!stream.destroyed) stream.push(null);
  });
  body.on('error', () => undefined);
  body.once('close', () => {
    clearTimeout(timer);
    if (isWhole) return;
    giveUp();
    stream.destroy(new Error('the origin cut the body'));
  });
  return { stream, whole };
}
