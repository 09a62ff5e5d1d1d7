// What a client is told when its request could not be passed on: a fixed text with the request id,
// `Proxy-Status` for machines (RFC 9209), and nothing about the inside.
import { STATUS_CODES } from 'node:http';
import type { BypassError } from './bypass-error.ts';
import type { Exchange } from './exchange.ts';
import { withExtraHeaders } from './relay-response.ts';
import { isUploaded } from './upload-body.ts';
import { cutAnswer, writeHead } from './write-head.ts';

/** Answers with the error's status, or cuts an answer that has already begun. */
export function answerError(exchange: Exchange, error: BypassError): void {
  const { request, response, target } = exchange;
  if (response.destroyed || error.type === 'client_left') return;
  if (response.headersSent) {
    cutAnswer(response);
    return;
  }
  if (!isUploaded(request)) response.shouldKeepAlive = false;
  const reason = STATUS_CODES[error.status] ?? '';
  const body = `${error.status} ${reason}\nrequest id: ${target.requestId}\n`;
  const headers = [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    'Proxy-Status',
    `edge-gateway; error=${error.type}`,
  ];
  writeHead(response, {
    status: error.status,
    reason,
    headers: withExtraHeaders(headers, target.extraResponseHeaders),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
