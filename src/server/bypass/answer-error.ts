// What a client is told when its request could not be passed on: a fixed text with the request id,
// `Proxy-Status` for machines (RFC 9209), and nothing about the inside.
import { textHeaders, troubleText } from '../../core/http/plain-text.ts';
import { reasonPhrase } from '../../core/http/status-text.ts';
import type { BypassError } from './bypass-error.ts';
import { withExtraHeaders } from './dress-answer.ts';
import type { Exchange } from './exchange.ts';
import type { BypassTarget } from './ports.ts';
import { isUploaded } from './upload-body.ts';
import { cutAnswer, type ResponseHead, writeHead } from './write-head.ts';

interface ErrorAnswer extends ResponseHead {
  readonly body: string;
}

/** Answers with the error's status, or cuts an answer that has already begun. */
export function answerError(exchange: Exchange, error: BypassError): void {
  const { request, response, target } = exchange;
  if (response.destroyed || error.type === 'client_left') return;
  if (response.headersSent) {
    cutAnswer(response);
    return;
  }
  if (!isUploaded(request)) response.shouldKeepAlive = false;
  const { body, ...head } = formatError(error, target);
  writeHead(response, head);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** What is said of an error, for any kind of writer. */
export function formatError(error: BypassError, target: BypassTarget): ErrorAnswer {
  const body = troubleText(error.status, target.requestId);
  const headers = [
    ...textHeaders(body).flat(),
    'Proxy-Status',
    `edge-gateway; error=${error.type}`,
  ];
  return {
    status: error.status,
    reason: reasonPhrase(error.status),
    headers: withExtraHeaders(headers, target.extraResponseHeaders),
    body,
  };
}
