// Puts one parsed request through the door: notes it on its connection, judges it, and either lets
// it on with its target in origin form or answers and closes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ServerLimits } from '../../config/settings.ts';
import type { RawHeaders } from '../../core/http/hop-headers.ts';
import { err, type Result } from '../../core/result.ts';
import { refuseConnection, refuseRequest } from './answer-refusal.ts';
import { checkRequest, type RequestHead } from './check-request.ts';
import { beginRequest, connectionOf, type DoorRequest } from './connection.ts';
import type { RefusalReason } from './refusals.ts';
import { watchUpload } from './watch-upload.ts';

export interface DoorOptions {
  readonly limits: ServerLimits;
  /** Longest request target, in bytes. */
  readonly urlBytesMax: number;
  /** Told every refusal, for the counter. */
  readonly onRefused: (reason: RefusalReason) => void;
}

/** Whether the request may go on; otherwise it has been answered. */
export function admitRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: DoorOptions,
): boolean {
  const { socket } = request;
  // Whatever was pipelined behind a refused message is not read as a request.
  if (connectionOf(socket).isClosing) return false;
  const connection = beginRequest({ request, response });
  const target = judge(request, connection.hasLooseRequestLine, options);
  if (!target.ok) {
    connection.isClosing = request.httpVersionMajor < 2;
    options.onRefused(target.error);
    refuseRequest(response, target.error);
    return false;
  }
  request.url = target.value;
  // HTTP/2 says it otherwise; from here on there is one name for it.
  request.headers.host ??= request.headers[':authority']?.toString();
  return true;
}

/** Ends the request when its body stalls; to be called when somebody begins to read it. */
export function limitUpload(pair: DoorRequest, options: DoorOptions): void {
  const { request, response } = pair;
  if (!announcesBody(request)) return;
  watchUpload(request, options.limits.bodyIdleTimeoutMs, () => {
    options.onRefused('body_timeout');
    connectionOf(request.socket).isClosing = true;
    if (response.headersSent || response.writableFinished) request.socket.destroy();
    else refuseConnection(request.socket, 'body_timeout');
  });
}

/** `admitRequest` for an upgrade, which has no response object; refused on the bare socket. */
export function admitUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  options: DoorOptions,
): boolean {
  const connection = connectionOf(socket);
  const target = judge(request, connection.hasLooseRequestLine, options);
  if (!target.ok) {
    connection.isClosing = true;
    options.onRefused(target.error);
    refuseConnection(socket, target.error);
    return false;
  }
  request.url = target.value;
  return true;
}

function judge(
  request: IncomingMessage,
  hasLooseRequestLine: boolean,
  { limits, urlBytesMax }: DoorOptions,
): Result<string, RefusalReason> {
  if (hasLooseRequestLine) return err('request_line');
  return checkRequest(headOf(request), { headerFieldsMax: limits.headerFieldsMax, urlBytesMax });
}

function headOf(request: IncomingMessage): RequestHead {
  const isHttp2 = request.httpVersionMajor === 2 && 'stream' in request;
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    httpVersion: request.httpVersion,
    rawHeaders: isHttp2 ? withHost(request.rawHeaders) : request.rawHeaders,
    isHttp2,
  };
}

/** HTTP/2 names the host in `:authority`; beside a different `Host` it counts as repeated. */
function withHost(raw: RawHeaders): RawHeaders {
  const fields: string[] = [];
  let authority: string | null = null;
  let host: string | null = null;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    if (name === ':authority') authority = value;
    if (name === 'host') host = value;
    if (!name.startsWith(':')) fields.push(name, value);
  }
  return authority === null || authority === host ? fields : ['host', authority, ...fields];
}

function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}
