// The origin's answer on its way to the client: streamed with back-pressure, flushed at once, ended
// cleanly only when the origin ended it cleanly. A cut answer is cut for the client too, because a
// clean end would make it whole (RFC 9112 §8).
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { forwardableTrailers, type RawHeaders } from '../../core/http/hop-headers.ts';
import { returnResponseHeaders } from '../../core/http/returned-headers.ts';
import { dressAnswer } from './dress-answer.ts';
import type { Exchange } from './exchange.ts';
import { isUploaded } from './upload-body.ts';
import { cutAnswer, writeHead, writeTrailers } from './write-head.ts';

/** How long an early answer's end waits for the rest of the upload: a reset would overtake it. */
const LINGER_MS = 2_000;

/** Has no content (RFC 9110 §15.3.6), but unlike 204 its framing must say so. */
const RESET_CONTENT = 205;

export interface RelayOptions {
  readonly pseudonym: string;
  /** The origin broke its answer off; told before the client can know. */
  readonly onCut: () => void;
}

/** Relays head, body and trailers; the client's connection is closed where it cannot be reused. */
export function relayResponse(
  exchange: Exchange,
  answer: IncomingMessage,
  { pseudonym, onCut }: RelayOptions,
): void {
  const { request, response } = exchange;
  if (!isUploaded(request)) response.shouldKeepAlive = false;
  writeHead(response, {
    status: answer.statusCode ?? 502,
    reason: answer.statusMessage ?? '',
    headers: returnedHeaders(exchange, answer, pseudonym),
  });
  // Nothing may come for long (event streams): the head does not wait for the first bytes.
  setImmediate(() => {
    if (!response.writableEnded && !response.destroyed) response.flushHeaders();
  });
  let isWhole = false;
  answer.once('end', () => {
    isWhole = answer.complete && !isResetBody(answer);
    if (isWhole) endResponse(exchange, forwardableTrailers(answer.rawTrailers));
  });
  let hasReader = true;
  // Whoever leaves takes the answer along: that is no failure of the origin.
  response.once('close', () => {
    hasReader = false;
  });
  // Node reports a cut answer as an error; `close` below deals with both.
  answer.on('error', () => undefined);
  answer.once('close', () => {
    if (isWhole) return;
    if (hasReader) onCut();
    cutAnswer(response);
  });
  if (answer.statusCode === RESET_CONTENT) answer.resume();
  else answer.pipe(response, { end: false });
}

/** Node takes a reset, too, for the end of a body that nothing but the connection ends. */
function isResetBody({ headers, socket }: IncomingMessage): boolean {
  const hasEnd = 'content-length' in headers || 'transfer-encoding' in headers;
  // Whatever its type says: a connection that goes on has been let go of already.
  const connection: Socket | null = socket;
  return !hasEnd && Boolean(connection?.errored);
}

function returnedHeaders(
  { request, target }: Exchange,
  answer: IncomingMessage,
  pseudonym: string,
): RawHeaders {
  const status = answer.statusCode ?? 0;
  const isChunked = answer.headers['content-length'] === undefined && request.httpVersion !== '1.0';
  const isReset = status === RESET_CONTENT;
  const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304 && !isReset;
  const headers = returnResponseHeaders(answer.rawHeaders, {
    pseudonym,
    httpVersion: answer.httpVersion,
    originUrl: target.originUrl,
    hostHeader: target.hostHeader,
    scheme: target.scheme,
    publicHost: target.publicHost,
    hasLength: status !== 204 && !isReset,
    hasTrailers: isChunked && hasBody,
  });
  if (isReset) headers.push('Content-Length', '0');
  return dressAnswer(headers, target);
}

function endResponse({ request, response }: Exchange, trailers: [string, string][]): void {
  const end = (): void => {
    writeTrailers(response, trailers);
    response.end();
  };
  if (isUploaded(request) || request.destroyed) {
    end();
    return;
  }
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', () => {
    clearTimeout(timer);
    end();
  });
  request.resume();
}
