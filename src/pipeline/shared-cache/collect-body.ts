// Reads a body for the store while it goes to the one who asked for it. The reading belongs to no
// client: a slow one does not hold it up, one that leaves does not end it. What turns out too large
// to keep, or comes while too much is held already, goes on for its client alone, at that client's
// pace. All that is in memory counts as held, until the store and the client are done with it.
import type { Readable } from 'node:stream';
import type { BodyFlaw } from '../state.ts';
import { createClientSide } from './client-side.ts';

/** All of it, unless it was cut or stalled, is too large, or came while too much was held. */
export type Collected = Buffer | BodyFlaw;

export interface Collecting {
  /** The same bytes, for the one who asked. */
  readonly stream: Readable;
  /** Never rejects. */
  readonly whole: Promise<Collected>;
  /** Nobody but the client needs `whole` any more. */
  readonly release: () => void;
}

export interface CollectLimits {
  readonly bytesMax: number;
  /** Nothing comes for so long: it will never be whole. */
  readonly idleMs: number;
}

export type CollectBody = (body: Readable, limits: CollectLimits) => Collecting;

/** Bytes of all bodies that are in memory. */
export interface Held {
  bytes: number;
}

/** @param bytesAtOnceMax of all bodies together */
export function createBodyCollector(
  bytesAtOnceMax: number,
  held: Held = { bytes: 0 },
): CollectBody {
  return (body, limits) => collectBody(body, limits, { held, bytesAtOnceMax });
}

interface Budget {
  readonly held: Held;
  readonly bytesAtOnceMax: number;
}

function collectBody(body: Readable, limits: CollectLimits, budget: Budget): Collecting {
  /** For the store; null: it gets no more. */
  let chunks: Buffer[] | null = [];
  let bytes = 0;
  let isWhole = false;
  let isReleased = false;
  const hold = holdIn(budget.held);
  const { promise: whole, resolve } = makePromise<Collected>();
  const timer = setTimeout(() => body.destroy(new Error('stalled')), limits.idleMs);

  const count = (): void => {
    const untaken = client.untakenBytes();
    // A whole one stays as long as the store or the client has a part of it.
    const isAllHeld = chunks !== null || (isWhole && (!isReleased || untaken > 0));
    hold(isAllHeld ? bytes : untaken);
  };
  const client = createClientSide({
    onTaken: () => {
      count();
      if (chunks === null && client.untakenBytes() === 0) body.resume();
    },
    onGone: () => {
      if (chunks === null && !isWhole) body.destroy();
      count();
    },
  });
  const settle = (result: Collected): void => {
    if (chunks === null) return;
    chunks = null;
    clearTimeout(timer);
    resolve(result);
    if (result !== 'cut' && !Buffer.isBuffer(result) && client.stream.destroyed) body.destroy();
  };
  body.on('data', (chunk: Buffer) => {
    const unfit = whyUnfit(bytes, chunk.length, limits, budget);
    if (unfit !== null) settle(unfit);
    bytes += chunk.length;
    client.give(chunk);
    if (chunks === null) {
      if (client.untakenBytes() > 0) body.pause();
    } else {
      chunks.push(chunk);
      timer.refresh();
    }
    count();
  });
  body.once('end', () => {
    if (chunks !== null) {
      const all = Buffer.concat(chunks, bytes);
      isWhole = true;
      // One copy: the client goes on with this one.
      client.replaceBy(all);
      settle(all);
    }
    client.end();
    count();
  });
  body.on('error', () => undefined);
  const onClose = (): void => {
    settle('cut');
    client.cut();
    count();
  };
  // What was waited for meanwhile may have taken longer than the origin.
  if (body.closed) onClose();
  else body.once('close', onClose);
  return {
    stream: client.stream,
    whole,
    release: () => {
      isReleased = true;
      count();
    },
  };
}

function whyUnfit(
  bytes: number,
  more: number,
  { bytesMax }: CollectLimits,
  { held, bytesAtOnceMax }: Budget,
): 'too_large' | 'no_room' | null {
  if (bytes + more > bytesMax) return 'too_large';
  return held.bytes + more > bytesAtOnceMax ? 'no_room' : null;
}

/** @returns told how many bytes of one body are in memory now */
function holdIn(held: Held): (bytes: number) => void {
  let counted = 0;
  return (bytes) => {
    held.bytes += bytes - counted;
    counted = bytes;
  };
}

function makePromise<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve = (_value: T): void => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
