// Plain http requests of a page to other people's servers. Nothing of ours is added to them.
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { filterEndToEnd } from '../../core/http/filter-headers.ts';
import { toPairs } from '../../core/http/to-pairs.ts';
import type { Destination } from './destination.ts';
import { answerHeaders } from './origin-route.ts';

export interface PublicForwarding {
  readonly destination: Destination;
  readonly connect: () => Promise<Duplex>;
}

/** Passes a request on. The page sees a lost connection where it would without us. */
export function forwardToPublic(
  request: IncomingMessage,
  response: ServerResponse,
  { destination, connect }: PublicForwarding,
): void {
  const giveUp = (): void => void response.destroy();
  const send = (socket: Duplex): void => {
    const fields = toPairs(request.rawHeaders);
    const length = fields.filter(([name]) => /^content-length$/i.test(name));
    const closing = ['connection', 'close'] as const;
    const upstream = httpRequest({
      method: request.method,
      path: destination.path,
      headers: [...filterEndToEnd(fields), ...length, closing].flat(),
      createConnection: () => socket,
    });
    upstream.on('error', giveUp);
    upstream.once('response', (answer) => passAnswer(answer, response));
    request.pipe(upstream);
  };
  connect().then(send, giveUp);
}

/** Sends an answer to the page; one that breaks off breaks off for the page too. */
export function passAnswer(answer: IncomingMessage, response: ServerResponse): void {
  const giveUp = (): void => void response.destroy();
  answer.once('aborted', giveUp);
  answer.on('error', giveUp);
  try {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer));
  } catch {
    // Field values that cannot be written on: an unusable answer.
    answer.destroy();
    return giveUp();
  }
  response.flushHeaders();
  answer.pipe(response);
}
