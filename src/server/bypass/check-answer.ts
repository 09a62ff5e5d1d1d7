// Answers of an origin that cannot be passed on as they are (RFC 9112 §6.3): Node's parser lets
// these through, and a client might read them differently than we did.
import type { IncomingMessage } from 'node:http';
import { fieldValues } from '../../core/http/hop-headers.ts';

const STATUS_MIN = 200;

/** What is wrong with an answer's head, for the log; null when it can be relayed. */
export function checkAnswer(answer: IncomingMessage, request: IncomingMessage): string | null {
  const status = answer.statusCode ?? 0;
  if (status < STATUS_MIN) return `status ${status}`;
  const codings = fieldValues(answer.rawHeaders, 'transfer-encoding');
  if (codings.length > 1) return 'repeated Transfer-Encoding';
  if (codings.some((coding) => coding.trim().toLowerCase() !== 'chunked')) {
    return `Transfer-Encoding: ${codings.join(', ')}`;
  }
  if (status === 304 && !isConditional(request)) return '304 to an unconditional request';
  return null;
}

function isConditional({ headers }: IncomingMessage): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
}
