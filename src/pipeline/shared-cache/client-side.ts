// The client's side of a body that is read for the store too: what the client has not taken yet
// waits here, in order, and is counted.
import { Readable } from 'node:stream';

/** A client is given pieces of this size, so that what it has not taken yet is known. */
const PIECE_BYTES = 64 * 1024;

export interface ClientSide {
  readonly stream: Readable;
  readonly give: (chunk: Buffer) => void;
  /** What has not been taken is taken from here, which has the same bytes. */
  readonly replaceBy: (all: Buffer) => void;
  readonly end: () => void;
  /** No more comes; behind the end that says nothing. */
  readonly cut: () => void;
  readonly untakenBytes: () => number;
}

interface Told {
  readonly onTaken: () => void;
  /** Also at the end. */
  readonly onGone: () => void;
}

export function createClientSide({ onTaken, onGone }: Told): ClientSide {
  let waiting: Buffer[] = [];
  let untakenBytes = 0;
  let isWanted = false;
  let isOfWhole = false;
  let isEnded = false;
  const stream = new Readable({
    read: () => {
      isWanted = true;
      flow();
      onTaken();
    },
    destroy: (error, done) => {
      waiting = [];
      untakenBytes = 0;
      done(error);
    },
  });
  // Whoever writes it out sees that it was closed before its end.
  stream.on('error', () => undefined);
  stream.once('close', onGone);
  const flow = (): void => {
    while (isWanted) {
      const [next] = waiting;
      if (next === undefined) break;
      const part = next.subarray(0, PIECE_BYTES);
      if (part.length < next.length) waiting[0] = next.subarray(PIECE_BYTES);
      else waiting.shift();
      // What lies in a socket must not keep all of it in memory.
      const piece = isOfWhole ? Buffer.from(part) : part;
      untakenBytes -= piece.length;
      isWanted = stream.push(piece);
    }
    if (isEnded && waiting.length === 0 && !stream.destroyed) stream.push(null);
  };
  return {
    stream,
    give: (chunk) => {
      if (stream.destroyed || chunk.length === 0) return;
      waiting.push(chunk);
      untakenBytes += chunk.length;
      flow();
    },
    replaceBy: (all) => {
      if (untakenBytes === 0) return;
      isOfWhole = true;
      waiting = [all.subarray(all.length - untakenBytes)];
    },
    end: () => {
      isEnded = true;
      flow();
    },
    cut: () => {
      if (!isEnded) stream.destroy(new Error('the origin cut the body'));
    },
    untakenBytes: () => untakenBytes,
  };
}
