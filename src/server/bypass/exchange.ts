// One bypassed request: Node's own request and response objects with the target chosen for them.
// Everything is written anew from the raw lists in here; Fastify's parsed forms are not used.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Forwarding, forwardRequestHeaders } from '../../core/http/forwarded.ts';
import { fieldValues } from '../../core/http/hop-headers.ts';
import type { BypassDeps, BypassTarget } from './ports.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Raw, in origin form. */
  readonly requestTarget: string;
  readonly target: BypassTarget;
}

/** How a request's body ends, decided once and written anew upstream. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

/** A body here has no meaning, and is how requests are hidden in each other. */
const BODYLESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Methods for which Node's client would announce a chunked body unless told the length. */
const BODYLESS_BY_DEFAULT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** How the body is framed that goes upstream. */
export function bodyFraming(request: IncomingMessage): BodyFraming {
  if (BODYLESS_METHODS.has(request.method ?? '')) return { kind: 'none' };
  const [length] = fieldValues(request.rawHeaders, 'content-length');
  if (length !== undefined) {
    const bytes = Number(length);
    return bytes === 0 ? { kind: 'none' } : { kind: 'length', bytes };
  }
  const isOpenHttp2Body = request.httpVersionMajor === 2 && !request.readableEnded;
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return isChunked || isOpenHttp2Body ? { kind: 'chunked' } : { kind: 'none' };
}

/** The whole header list that goes upstream, framing included. */
export function upstreamHeaders(exchange: Exchange, body: BodyFraming, deps: BypassDeps): string[] {
  const { request, target } = exchange;
  const raw = target.inner?.headers ?? request.rawHeaders;
  const headers = forwardRequestHeaders(raw, forwardingOf(exchange, deps));
  if (body.kind === 'length') headers.push('Content-Length', String(body.bytes));
  if (body.kind === 'chunked') {
    headers.push('Transfer-Encoding', 'chunked');
    for (const value of fieldValues(request.rawHeaders, 'trailer')) headers.push('Trailer', value);
  }
  if (body.kind === 'none' && !BODYLESS_BY_DEFAULT.has(request.method ?? '')) {
    headers.push('Content-Length', '0');
  }
  return headers;
}

function forwardingOf({ request, target }: Exchange, deps: BypassDeps): Forwarding {
  const peerAddress = request.socket.remoteAddress ?? '';
  return {
    hostHeader: target.hostHeader,
    publicHost: target.publicHost,
    scheme: target.scheme,
    peerAddress,
    isTrustedPeer: deps.isTrustedPeer(peerAddress),
    pseudonym: deps.pseudonym,
    httpVersion: request.httpVersion,
    userAgent: target.userAgent,
    isShared: false,
  };
}
