// Puts an answer of the pipeline on the wire, head and body in one go.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
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
  writeHead(response, { status, reason: STATUS_CODES[status] ?? '', headers: headers.flat() });
  if (body === null || request.method === 'HEAD') response.end();
  else response.end(body);
}
