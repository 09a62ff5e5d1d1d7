// Puts an answer of the pipeline on the wire, head and body in one go.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { statusText } from '../../core/http/status-text.ts';
import type { Answer } from '../../pipeline/state.ts';
import { isUploaded } from '../bypass/upload-body.ts';
import { writeHead } from '../bypass/write-head.ts';

export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Answer,
): void {
  if (response.destroyed || response.headersSent) return;
  // A body nobody reads must not be taken for the next request (case A92).
  if (!isUploaded(request)) response.shouldKeepAlive = false;
  writeHead(response, { status, reason: statusText(status), headers: headers.flat() });
  if (body === null || request.method === 'HEAD') response.end();
  else response.end(body);
}
