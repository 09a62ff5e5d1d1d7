// How a refusal is written: short, plain, and always the last thing on its connection, because
// after an ambiguous message nobody knows where the next one starts.
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { reasonPhrase } from '../../core/http/status-text.ts';
import { writeHead } from '../bypass/write-head.ts';
import { type RefusalReason, refusalStatus, refusalText } from './refusals.ts';

/** How long a closing connection may still send before it is cut: a reset overtakes the answer. */
const LINGER_MS = 1_000;

/** Answers through Node's response object, behind whatever is still owed on the connection. */
export function refuseRequest(response: ServerResponse, reason: RefusalReason): void {
  const body = refusalText(reason);
  const status = refusalStatus(reason);
  const headers = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ...(response.req.httpVersionMajor === 2 ? [] : [['Connection', 'close']]),
  ];
  writeHead(response, { status, reason: reasonPhrase(status), headers: headers.flat() });
  response.end(body);
}

/** Answers on the bare socket, where there is no request: parse errors, timeouts, upgrades. */
export function refuseConnection(socket: Duplex, reason: RefusalReason): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = refusalStatus(reason);
  const body = refusalText(reason);
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  closeAfter(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Sends the last bytes and closes; what still comes is read and thrown away for a moment. */
function closeAfter(socket: Duplex, lastBytes: string): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(lastBytes, 'latin1');
  socket.resume();
}
