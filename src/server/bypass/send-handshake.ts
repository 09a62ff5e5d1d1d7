// A WebSocket handshake on its way to the origin: ends with the origin's 101 and its socket, with
// any other answer, or with a BypassError.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isLoop } from '../../core/http/forwarded.ts';
import { fieldValues } from '../../core/http/hop-headers.ts';
import { BypassError, toBypassError } from './bypass-error.ts';
import { checkAnswer } from './check-answer.ts';
import { type Exchange, upstreamHeaders } from './exchange.ts';
import type { BypassDeps } from './ports.ts';

export type HandshakeAnswer =
  | {
      readonly kind: 'switched';
      readonly answer: IncomingMessage;
      readonly socket: Duplex;
      /** What the origin sent right behind its answer. */
      readonly head: Buffer;
    }
  | { readonly kind: 'declined'; readonly answer: IncomingMessage };

const UPGRADE = ['Connection', 'Upgrade', 'Upgrade', 'websocket'] as const;

/**
 * Asks the origin to switch protocols.
 *
 * @param client the client's socket; its end aborts the handshake
 */
export async function sendHandshake(
  exchange: Exchange,
  client: Duplex,
  deps: BypassDeps,
): Promise<HandshakeAnswer> {
  const { request, requestTarget, target } = exchange;
  if (isLoop(fieldValues(request.rawHeaders, 'via'), deps.pseudonym)) {
    throw new BypassError('proxy_loop_detected', 'the handshake has been here before');
  }
  const upstream = deps.connector.open({
    originUrl: target.originUrl,
    method: 'GET',
    target: requestTarget,
    headers: [...upstreamHeaders(exchange, { kind: 'none' }, deps), ...UPGRADE],
    isOnNewConnection: true,
  });
  const fail = (error: BypassError): void => void upstream.destroy(error);
  const timer = setTimeout(() => {
    fail(new BypassError('http_response_timeout', 'no answer to the handshake in time'));
  }, target.timeoutMs);
  client.once('close', () => fail(new BypassError('client_left', 'the client left')));
  return await new Promise<HandshakeAnswer>((resolve, reject) => {
    upstream.on('error', (error) => reject(toBypassError(error)));
    upstream.once('upgrade', (answer, socket, head) => {
      resolve({ kind: 'switched', answer, socket, head });
    });
    upstream.once('response', (answer) => {
      const flaw = checkAnswer(answer, request);
      if (flaw === null) resolve({ kind: 'declined', answer });
      else fail(new BypassError('http_protocol_error', flaw));
    });
    upstream.end();
  }).finally(() => clearTimeout(timer));
}
