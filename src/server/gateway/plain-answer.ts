// An answer of a line or two, for what has no page: with the request id, and never kept anywhere.
import { statusText } from '../../core/http/status-text.ts';
import type { HeaderList } from '../../pipeline/ports.ts';
import type { Answer } from '../../pipeline/state.ts';

/** @param text absent: the status in words */
export function plainAnswer(
  status: number,
  requestId: string,
  { text = statusText(status), headers = [] }: { text?: string; headers?: HeaderList } = {},
): Answer {
  const body = Buffer.from(`${text}\nrequest id: ${requestId}\n`);
  return {
    status,
    headers: [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
      ['X-Request-ID', requestId],
      ...headers,
    ],
    body,
  };
}
