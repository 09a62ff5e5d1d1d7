// A body that is still coming from the origin, on its way to the client: with back-pressure,
// flushed at once, and cut for the client when it was cut for us, because a clean end would make
// it whole (RFC 9112 §8).
import type { ServerResponse } from 'node:http';
import { forwardableTrailers } from '../../core/http/hop-headers.ts';
import type { StreamedBody } from '../../pipeline/state.ts';
import { cutAnswer, writeTrailers } from '../bypass/write-head.ts';

/** The head has been written; whoever leaves first takes the other along. */
export function streamBody(response: ServerResponse, { stream, trailers }: StreamedBody): void {
  // Nothing may come for long: the head does not wait for the first bytes.
  setImmediate(() => {
    if (!response.writableEnded && !response.destroyed) response.flushHeaders();
  });
  let isWhole = false;
  const end = (): void => {
    if (!isWhole) cutAnswer(response);
  };
  stream.once('end', () => {
    isWhole = true;
    writeTrailers(response, forwardableTrailers(trailers().flat()));
    response.end();
  });
  // What went wrong is known by the origin's side; here it is only that the body has ended.
  stream.on('error', () => undefined);
  response.once('close', () => stream.destroy());
  if (stream.closed) {
    end();
    return;
  }
  stream.once('close', end);
  stream.pipe(response, { end: false });
}
