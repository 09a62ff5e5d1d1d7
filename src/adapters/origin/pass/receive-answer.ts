// One request on a pool and its answer, without what a general client brings along: what is passed
// on for hundreds at once is paid by the microsecond. A body that comes with its head is one piece
// of bytes; only one that goes on coming is a stream, with back-pressure.
import { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { toPairs } from '../../../core/http/to-pairs.ts';
import type { Information } from '../../../pipeline/origin-ports.ts';
import type { HeaderList } from '../../../pipeline/ports.ts';

export interface ReceivedAnswer {
  readonly status: number;
  readonly reason: string;
  /** As they came, latin1. */
  readonly headers: HeaderList;
  readonly body: Buffer | Readable;
  readonly trailers: () => HeaderList;
  /** Nobody wants it. */
  readonly abort: () => void;
}

/** No head came in time. */
export class TooSlow extends Error {
  readonly code = 'deadline';
}

/** The request was ended by who had asked. */
class Unwanted extends Error {
  readonly code = 'unwanted';
}

export interface ReceiveOptions {
  /** Until the head is there. */
  readonly timeoutMs: number;
  readonly onInformation: (information: Information) => void;
  /** Told once, when the connection has nothing to do with it any more. */
  readonly onDone: () => void;
}

/** Rejects with what went wrong before the head was there. */
export async function receiveAnswer(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  options: ReceiveOptions,
): Promise<ReceivedAnswer> {
  const receiver = new Receiver(options);
  const timer = setTimeout(() => receiver.giveUp(new TooSlow()), options.timeoutMs);
  try {
    pool.dispatch(request, receiver);
    await receiver.head;
    return receiver.takeAnswer();
  } finally {
    clearTimeout(timer);
  }
}

class Receiver implements Dispatcher.DispatchHandler {
  readonly head: Promise<void>;
  readonly #options: ReceiveOptions;
  #settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #reason = '';
  #headers: HeaderList = [];
  #trailers: HeaderList = [];
  /** What came before anybody took it; null: it goes to the stream. */
  #early: Buffer[] | null = [];
  #stream: Readable | null = null;
  /** How it ended: whole, or by this error; null: it goes on. */
  #end: 'whole' | Error | null = null;

  constructor(options: ReceiveOptions) {
    this.#options = options;
    this.head = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end instanceof Error) controller.abort(this.#end);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    reason = '',
  ): void {
    const headers = pairFields(controller.rawHeaders);
    if (status < 200) {
      this.#options.onInformation({ statusCode: status, headers });
      return;
    }
    this.#status = status;
    this.#reason = reason;
    this.#headers = headers;
    this.#settle?.resolve();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#early !== null) this.#early.push(chunk);
    else if (this.#stream?.push(chunk) === false) controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#trailers = pairFields(controller.rawTrailers ?? []);
    this.#end = 'whole';
    this.#stream?.push(null);
    this.#options.onDone();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isFirst = this.#end === null;
    this.#fail(error);
    if (isFirst) this.#options.onDone();
  }

  giveUp(error: Error): void {
    if (this.#end !== null) return;
    this.#fail(error);
    this.#controller?.abort(error);
    this.#options.onDone();
  }

  takeAnswer(): ReceivedAnswer {
    return {
      status: this.#status,
      reason: this.#reason,
      headers: this.#headers,
      body: this.#takeBody(),
      trailers: () => this.#trailers,
      abort: () => this.giveUp(new Unwanted()),
    };
  }

  #takeBody(): Buffer | Readable {
    const early = this.#early ?? [];
    this.#early = null;
    if (this.#end === 'whole' && this.#trailers.length === 0) {
      return early.length === 1 && early[0] !== undefined ? early[0] : Buffer.concat(early);
    }
    const stream = new Readable({
      read: () => this.#controller?.resume(),
      destroy: (error, done) => {
        this.giveUp(error ?? new Unwanted());
        done(error);
      },
    });
    // Whoever reads it sees that it was closed before its end.
    stream.on('error', () => undefined);
    this.#stream = stream;
    for (const chunk of early) stream.push(chunk);
    if (this.#end === 'whole') stream.push(null);
    else if (this.#end !== null) stream.destroy(this.#end);
    return stream;
  }

  #fail(error: Error): void {
    if (this.#end !== null) return;
    this.#end = error;
    this.#settle?.reject(error);
    this.#stream?.destroy(error);
  }
}

/** Names and values in turn, as bytes. */
function pairFields(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  if (!Array.isArray(raw)) throw new Error('raw fields come as a list');
  return toPairs(raw.map(latin1));
}

function latin1(bytes: Buffer | string | undefined): string {
  return typeof bytes === 'string' ? bytes : (bytes?.toString('latin1') ?? '');
}
