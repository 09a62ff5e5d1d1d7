// WebSocket through the gateway: the handshake goes to the origin, and only when the origin answers
// 101 do the two sockets become one pipe. Until then no byte of the client goes on (RFC 9931); any
// other answer is relayed as a normal one and the connection closed.
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { visitFields } from '../../core/http/hop-headers.ts';
import { returnResponseHeaders } from '../../core/http/returned-headers.ts';
import { reasonPhrase } from '../../core/http/status-text.ts';
import type { UpgradeListener } from '../door/create-http-server.ts';
import { answerError } from './answer-error.ts';
import { type BypassError, cutBehindHead, toBypassError } from './bypass-error.ts';
import type { Exchange } from './exchange.ts';
import { holdEarlyBytes } from './hold-early-bytes.ts';
import type { BypassDeps, BypassOutcome, BypassTarget } from './ports.ts';
import { relayResponse } from './relay-response.ts';
import { sendHandshake } from './send-handshake.ts';

/** The pipeline's word on an upgrade: where it goes, or the status it is answered with. */
export type UpgradeDecision = { readonly target: BypassTarget } | { readonly status: number };

export interface TunnelOptions extends BypassDeps {
  readonly decide: (request: IncomingMessage) => Promise<UpgradeDecision>;
  readonly onOutcome: (request: IncomingMessage, outcome: BypassOutcome) => void;
}

export interface Tunnel {
  readonly onUpgrade: UpgradeListener;
  /** Cuts every open tunnel, for shutdown. */
  readonly close: () => void;
}

const INTERNAL_ERROR = 500;
/** Server, door, response and both pipes each listen for the socket's end: more than Node's ten. */
const SOCKET_LISTENERS_MAX = 20;

/** The listener for handshakes that passed the door. */
export function createTunnel(options: TunnelOptions): Tunnel {
  const open = new Set<Duplex>();
  return {
    onUpgrade: (request, socket, head) => {
      open.add(socket);
      socket.setMaxListeners(SOCKET_LISTENERS_MAX);
      socket.once('close', () => open.delete(socket));
      // A reset of an idle tunnel must never reach the process; `close` follows it.
      socket.on('error', () => socket.destroy());
      options.decide(request).then(
        (decision) => {
          if (socket.destroyed) return;
          if ('target' in decision) {
            void shakeHands({ request, socket, head }, decision.target, options);
          } else answerStatus(request, socket, decision.status);
        },
        () => answerStatus(request, socket, INTERNAL_ERROR),
      );
    },
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

async function shakeHands(
  { request, socket, head }: Handshake,
  target: BypassTarget,
  options: TunnelOptions,
): Promise<void> {
  const response = responseOn(request, socket);
  const requestTarget = request.url ?? '/';
  const exchange: Exchange = { request, response, requestTarget, target };
  const report = (status: number, error: BypassError | null): void => {
    const { originUrl } = target;
    const [type, detail] = [error?.type ?? null, error?.message ?? null];
    options.onOutcome(request, { originUrl, status, error: type, detail });
  };
  const early = holdEarlyBytes(socket, head);
  try {
    const result = await sendHandshake(exchange, socket, options);
    const status = result.answer.statusCode ?? 0;
    report(status, null);
    if (result.kind === 'declined') {
      const onCut = (): void => report(status, cutBehindHead());
      relayResponse(exchange, result.answer, { pseudonym: options.pseudonym, onCut });
      return;
    }
    response.detachSocket(asSocket(socket));
    socket.write(switchingHead(exchange, result.answer, options.pseudonym), 'latin1');
    socket.write(result.head);
    result.socket.write(early.release());
    joinSockets(socket, result.socket);
  } catch (cause) {
    const error = toBypassError(cause instanceof Error ? cause : new Error(String(cause)));
    report(error.status, error);
    answerError(exchange, error);
  }
}

/** Both ways with back-pressure; whichever side fails or ends takes the other with it. */
function joinSockets(client: Duplex, origin: Duplex): void {
  origin.on('error', () => origin.destroy());
  pipeline(client, origin, () => origin.destroy());
  pipeline(origin, client, () => client.destroy());
}

function switchingHead(exchange: Exchange, answer: IncomingMessage, pseudonym: string): string {
  const { target } = exchange;
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
  const headers = returnResponseHeaders(answer.rawHeaders, {
    pseudonym,
    httpVersion: answer.httpVersion,
    originUrl: target.originUrl,
    hostHeader: target.hostHeader,
    scheme: target.scheme,
    publicHost: target.publicHost,
    hasLength: false,
    hasTrailers: false,
  });
  visitFields(headers, (_name, value, nameAsWritten) => lines.push(`${nameAsWritten}: ${value}`));
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A normal response object on a socket that Node has already let go of. */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(asSocket(socket));
  response.once('finish', () => socket.end());
  return response;
}

function answerStatus(request: IncomingMessage, socket: Duplex, status: number): void {
  if (socket.destroyed) return;
  const response = responseOn(request, socket);
  response.writeHead(status, reasonPhrase(status), { 'Content-Length': 0, Connection: 'close' });
  response.end();
}

function asSocket(socket: Duplex): Socket {
  if (!(socket instanceof Socket)) throw new Error('an upgrade comes with a network socket');
  return socket;
}
