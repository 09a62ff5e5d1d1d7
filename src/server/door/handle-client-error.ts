// What happens when Node's parser or timers give up on a connection. A good answer that is still
// owed is not thrown away because of what came after its request (bytes after `Connection: close`).
import type { Duplex } from 'node:stream';
import { refuseConnection } from './answer-refusal.ts';
import { connectionOf, type DoorRequest, pendingRequest } from './connection.ts';
import type { RefusalReason } from './refusals.ts';

const REASONS: Readonly<Record<string, RefusalReason>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'headers_timeout',
  HPE_HEADER_OVERFLOW: 'header_bytes',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'chunk_extensions',
};

/** Node's `clientError`, with what it attaches to the error. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** Answers a broken connection, or lets its pending answer finish first. */
export function handleClientError(
  error: ClientError,
  socket: Duplex,
  onRefused: (reason: RefusalReason) => void,
): void {
  const connection = connectionOf(socket);
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE' || socket.destroyed) {
    socket.destroy();
    return;
  }
  // Node's parser has seen nothing yet and calls that late; the lane has answered meanwhile.
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const { lane } = connection;
  if (isLate && (lane?.isOnlyReader() === true || lane?.isAnswering() === true)) return;
  // The peer goes on sending while the last answer is on its way: already dealt with.
  if (connection.isClosing) return;
  connection.isClosing = true;
  const reason = reasonOf(error);
  const pending = pendingRequest(connection);
  if (pending?.request.complete) {
    finishThenClose(socket, pending);
    return;
  }
  onRefused(reason);
  if (pending !== null && hasStartedAnswer(pending)) socket.destroy();
  else refuseConnection(socket, reason);
}

function reasonOf(error: ClientError): RefusalReason {
  if (error.code === 'HPE_INVALID_METHOD' && startsWithToken(error.rawPacket)) {
    return 'unknown_method';
  }
  // The same code also stands for a bare LF after the version, which is a framing trick.
  if (error.code === 'HPE_INVALID_VERSION' && error.reason === 'Invalid HTTP version') {
    return 'version';
  }
  return REASONS[error.code ?? ''] ?? 'malformed';
}

/** `BREW /pot HTTP/1.1` is a well-formed request for a method nobody knows (RFC 9110 §9.1). */
function startsWithToken(packet: Buffer | undefined): boolean {
  return packet !== undefined && /^[A-Z][A-Z-]{0,31} [!-~]/.test(packet.toString('latin1', 0, 64));
}

function finishThenClose(socket: Duplex, pending: DoorRequest): void {
  pending.response.shouldKeepAlive = false;
  pending.response.once('finish', () => socket.end());
}

/** An answer behind another one has no socket yet: bare bytes would overtake the one before it. */
function hasStartedAnswer({ response }: DoorRequest): boolean {
  return response.headersSent || response.socket === null;
}
