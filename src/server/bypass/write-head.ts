// The head, the trailers and the breaking-off of an answer, on either kind of Node response.
// HTTP/1.1 takes the raw list, with case, order and repeats; HTTP/2 takes lower-case names with all
// values of each.
import type { ServerResponse } from 'node:http';
import { constants, Http2ServerResponse } from 'node:http2';
import { type RawHeaders, visitFields } from '../../core/http/hop-headers.ts';

export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
}

/** Whether a response that Fastify handed over is one of HTTP/2's, whose types it hides. */
export function isHttp2Response(
  response: ServerResponse | Http2ServerResponse,
): response is Http2ServerResponse {
  return response instanceof Http2ServerResponse;
}

/** All values of each field by lower-case name, as HTTP/2's API takes them. */
export function groupFields(raw: RawHeaders): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  visitFields(raw, (name, value) => {
    fields.set(name, [...(fields.get(name) ?? []), value]);
  });
  return Object.fromEntries(fields);
}

/** Writes status and header fields, once. */
export function writeHead(response: ServerResponse, head: ResponseHead): void {
  const either: ServerResponse | Http2ServerResponse = response;
  if (isHttp2Response(either)) either.writeHead(head.status, groupFields(head.headers));
  else either.writeHead(head.status, head.reason, [...head.headers]);
}

/** Adds trailer fields; where the framing has no place for them they are left out. */
export function writeTrailers(
  response: ServerResponse,
  trailers: readonly [string, string][],
): void {
  const either: ServerResponse | Http2ServerResponse = response;
  if (isHttp2Response(either)) either.addTrailers(groupFields(trailers.flat()));
  else either.addTrailers([...trailers]);
}

/** Breaks an answer off so that no client can take it for whole. */
export function cutAnswer(response: ServerResponse): void {
  const either: ServerResponse | Http2ServerResponse = response;
  if (isHttp2Response(either)) {
    either.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    return;
  }
  // HTTP/1.0 takes any close for the end, so there it is a reset.
  if (response.req.httpVersion === '1.0') response.socket?.resetAndDestroy();
  either.destroy();
}
