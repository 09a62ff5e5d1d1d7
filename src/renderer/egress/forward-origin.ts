// Requests of a page to its own host, passed on to the configured origin and back: streamed, so
// that EventSource and WebSocket work; a cut answer is cut for the page too, so that half a
// document is never taken for a whole one.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toPairs } from '../../core/http/to-pairs.ts';
import { passAnswer } from './forward-public.ts';
import { isConnectFailure, type OriginRoute, openOrigin, type PageCall } from './origin-route.ts';

export interface Forwarding {
  readonly route: OriginRoute;
  readonly authority: string;
  readonly target: string;
  readonly signal: AbortSignal;
  readonly onFailure: (error: Error) => void;
}

/** Passes one request on. The page sees a lost connection when the origin cannot be reached. */
export function forwardToOrigin(
  request: IncomingMessage,
  response: ServerResponse,
  forwarding: Forwarding,
): void {
  const hasBody =
    request.headers['content-length'] !== undefined ||
    request.headers['transfer-encoding'] !== undefined;
  const urls = forwarding.route.host.origins.map((origin) => origin.url);
  const attempt = (index: number): void => {
    const url = urls[index];
    if (url === undefined) return fail(new Error('no origin'));
    const call = describeCall(request, forwarding, false);
    const upstream = openOrigin(url, call, forwarding.route);
    const abort = (): void => void upstream.destroy();
    forwarding.signal.addEventListener('abort', abort, { once: true });
    response.once('close', abort);
    upstream.once('close', () => forwarding.signal.removeEventListener('abort', abort));
    upstream.once('response', (answer) => passAnswer(answer, response));
    upstream.on('error', (error) => {
      const next = index + 1;
      if (isConnectFailure(error) && !hasBody && next < urls.length) attempt(next);
      else fail(error);
    });
    if (hasBody) request.pipe(upstream);
    else upstream.end();
  };
  const fail = (error: Error): void => {
    if (!forwarding.signal.aborted && !response.destroyed) forwarding.onFailure(error);
    response.destroy();
  };
  attempt(0);
}

/** Passes an upgrade (WebSocket) on and joins the two connections. */
export function upgradeToOrigin(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  forwarding: Forwarding,
): void {
  const url = forwarding.route.host.origins[0]?.url;
  if (url === undefined) return void socket.destroy();
  const call = describeCall(request, forwarding, true);
  const upstream = openOrigin(url, call, forwarding.route);
  const abort = (): void => void upstream.destroy();
  forwarding.signal.addEventListener('abort', abort, { once: true });
  socket.once('close', abort);
  upstream.once('upgrade', (answer, origin, originHead) => {
    const lines = toPairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1');
    socket.write(originHead);
    origin.write(head);
    join(socket, origin);
    forwarding.signal.addEventListener('abort', () => origin.destroy(), { once: true });
  });
  upstream.once('response', (answer) => {
    answer.resume();
    socket.end(`HTTP/1.1 ${answer.statusCode ?? 502} Refused\r\nContent-Length: 0\r\n\r\n`);
  });
  upstream.on('error', () => socket.destroy());
  upstream.end();
}

/** Two connections as one: what ends or breaks one, does it to the other. */
export function join(left: Duplex, right: Duplex): void {
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.pipe(to);
    // What went wrong on one side is told to the other by the end of the connection.
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
  }
}

function describeCall(
  request: IncomingMessage,
  { authority, target }: Forwarding,
  isUpgrade: boolean,
): PageCall {
  const headers = toPairs(request.rawHeaders);
  return { method: request.method ?? 'GET', target, headers, authority, isUpgrade };
}
