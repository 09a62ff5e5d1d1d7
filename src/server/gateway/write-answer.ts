// Puts an answer of the pipeline on the wire. A large body goes in pieces, as fast as the client
// reads: so it is seen whether it reads at all.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { reasonPhrase } from '../../core/http/status-text.ts';
import type { Answer } from '../../pipeline/state.ts';
import { isUploaded } from '../bypass/upload-body.ts';
import { writeHead } from '../bypass/write-head.ts';
import { streamBody } from './stream-body.ts';

const PIECE_BYTES = 65_536;
const NO_CONTENT = 204;
const RESET_CONTENT = 205;

export function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): void {
  if (response.destroyed || response.headersSent) {
    discardBody(answer);
    return;
  }
  // A body nobody reads must not be taken for the next request.
  if (!isUploaded(request)) response.shouldKeepAlive = false;
  const { status, reason, headers, body } = withoutForbiddenContent(answer);
  const phrase = reason ?? reasonPhrase(status);
  writeHead(response, { status, reason: phrase, headers: headers.flat() });
  if (body === null || request.method === 'HEAD') {
    discardBody(answer);
    response.end();
  } else if (Buffer.isBuffer(body)) writeBody(response, body);
  else streamBody(response, body);
}

/** Nobody reads it: what sends it may stop. */
function discardBody({ body }: Answer): void {
  if (body !== null && !Buffer.isBuffer(body)) body.stream.destroy();
}

/**
 * Wherever it comes from, 204 has neither content nor length and 205 no content (RFC 9110 §15.3).
 */
function withoutForbiddenContent(answer: Answer): Answer {
  if (answer.status !== NO_CONTENT && answer.status !== RESET_CONTENT) return answer;
  const headers = answer.headers.filter(([name]) => !/^content-(length|encoding)$/i.test(name));
  if (answer.status === NO_CONTENT) return { ...answer, headers, body: null };
  return { ...answer, headers: [...headers, ['Content-Length', '0']], body: null };
}

function writeBody(response: ServerResponse, body: Buffer): void {
  let offset = 0;
  const writeOn = (): void => {
    while (body.length - offset > PIECE_BYTES) {
      const piece = body.subarray(offset, offset + PIECE_BYTES);
      offset += PIECE_BYTES;
      if (!response.write(piece)) {
        response.once('drain', writeOn);
        return;
      }
    }
    response.end(body.subarray(offset));
  };
  writeOn();
}
