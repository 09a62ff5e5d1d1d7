// The client's body on its way to the origin: back-pressure, a byte count, trailers. Once the
// origin has stopped listening the rest is read and thrown away, so that its answer gets through.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { forwardableTrailers } from '../../core/http/hop-headers.ts';
import { BypassError } from './bypass-error.ts';
import type { BodyFraming, Exchange } from './exchange.ts';

export interface Upload {
  /** Whether it is the client that we wait for, not the origin. */
  readonly isWaitingForClient: () => boolean;
}

const NO_UPLOAD: Upload = { isWaitingForClient: () => false };

/**
 * Sends the body and ends the upstream request.
 *
 * @param bodyBytesMax 0 is unlimited
 * @param onProgress called for every piece sent
 */
export function uploadBody(
  exchange: Exchange,
  upstream: ClientRequest,
  body: BodyFraming,
  { bodyBytesMax, onProgress }: { readonly bodyBytesMax: number; readonly onProgress: () => void },
): Upload {
  const { request } = exchange;
  if (body.kind === 'none') {
    upstream.end();
    request.resume();
    return NO_UPLOAD;
  }
  allowBody(exchange);
  // Node holds the head back for the first piece of the body, which may depend on the answer.
  upstream.flushHeaders();
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bodyBytesMax > 0 && bytes > bodyBytesMax) {
      upstream.destroy(new BypassError('http_request_error', 'the body is larger than allowed'));
    }
    if (upstream.destroyed) return;
    onProgress();
    if (!upstream.write(chunk)) request.pause();
  });
  upstream.on('drain', () => request.resume());
  upstream.once('close', () => request.resume());
  request.once('end', () => {
    if (upstream.destroyed) return;
    if (body.kind === 'chunked') upstream.addTrailers(forwardableTrailers(request.rawTrailers));
    upstream.end();
  });
  return { isWaitingForClient: () => !request.complete && !upstream.writableNeedDrain };
}

/** A client that asked first waits for this before it sends the body. */
function allowBody({ request, response }: Exchange): void {
  if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue();
}

/** Whether the whole request has been received. */
export function isUploaded(request: IncomingMessage): boolean {
  return request.complete || request.readableEnded;
}
