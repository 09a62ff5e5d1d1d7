// Interim answers of the origin, passed on as they arrive (RFC 9110 §15.2): 102 and 103. Not 100,
// which the gateway answers itself, nor a status nobody knows; and never to HTTP/1.0.
import type { InformationEvent, ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { hopNames, visitFields } from '../../core/http/hop-headers.ts';
import type { Exchange } from './exchange.ts';
import { groupFields, isHttp2Response } from './write-head.ts';

const RELAYED: ReadonlySet<number> = new Set([102, 103]);
/** There is no body to be framed. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

/** What is passed on of an interim answer. */
export type Interim = Pick<InformationEvent, 'statusCode' | 'statusMessage' | 'rawHeaders'>;

/** Passes one interim answer to the client, if it can be. */
export function relayInformation(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  information: Interim,
): void {
  const { statusCode, statusMessage, rawHeaders } = information;
  if (!RELAYED.has(statusCode) || response.headersSent || response.writableEnded) return;
  const dropped = hopNames(rawHeaders);
  const headers: string[] = [];
  visitFields(rawHeaders, (name, value, nameAsWritten) => {
    if (!dropped.has(name) && !FRAMING.has(name)) headers.push(nameAsWritten, value);
  });
  const either: ServerResponse | Http2ServerResponse = response;
  if (isHttp2Response(either)) {
    either.stream.additionalHeaders({ ':status': statusCode, ...groupFields(headers) });
    return;
  }
  if (request.httpVersion !== '1.1' || response.socket === null) return;
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  visitFields(headers, (_name, value, nameAsWritten) => lines.push(`${nameAsWritten}: ${value}`));
  response.socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
