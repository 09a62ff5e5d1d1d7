// Reads a body for the store while it goes to the one who asked for it. The reading belongs to no
// client: a slow one does not hold it up, one that leaves does not end it. What turns out too large
// to keep, or comes while too much is being read already, goes on for its client alone, at that
// client's pace.
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

export type CollectBody = (body: Readable, limits: CollectLimits) => Collecting;

/** @param bytesAtOnceMax of all bodies that are being read */
export function createBodyCollector(bytesAtOnceMax: number): CollectBody {
  const held = { bytes: 0 };
  return (body, limits) => collectBody(body, limits, { held, bytesAtOnceMax });
}

interface Budget {
  readonly held: { bytes: number };
  readonly bytesAtOnceMax: number;
}

function collectBody(
  body: Readable,
  { bytesMax, idleMs }: CollectLimits,
  { held, bytesAtOnceMax }: Budget,
): Collecting {
  let chunks: Buffer[] | null = [];
  let bytes = 0;
  let isWhole = false;
  let resolve = (_whole: Buffer | null): void => undefined;
  const whole = new Promise<Buffer | null>((done) => {
    resolve = done;
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
  const settle = (result: Buffer | null): void => {
    if (chunks === null) return;
    chunks = null;
    held.bytes -= bytes;
    clearTimeout(timer);
    resolve(result);
    if (result === null && stream.destroyed) body.destroy();
  };
  body.on('data', (chunk: Buffer) => {
    if (chunks !== null) {
      const isTooMuch =
        bytes + chunk.length > bytesMax || held.bytes + chunk.length > bytesAtOnceMax;
      if (isTooMuch) settle(null);
    }
    if (chunks !== null) {
      chunks.push(chunk);
      bytes += chunk.length;
      held.bytes += chunk.length;
      timer.refresh();
    }
    const hasRoom = stream.destroyed || stream.push(chunk);
    if (!hasRoom && chunks === null) body.pause();
  });
  body.once('end', () => {
    isWhole = true;
    if (chunks !== null) settle(Buffer.concat(chunks, bytes));
    if (!stream.destroyed) stream.push(null);
  });
  body.on('error', () => undefined);
  body.once('close', () => {
    if (isWhole) return;
    settle(null);
    stream.destroy(new Error('the origin cut the body'));
  });
  return { stream, whole };
}
