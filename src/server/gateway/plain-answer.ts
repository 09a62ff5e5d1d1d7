// An answer of a line or two, for what has no page: with the request id, and never kept anywhere.
import { textHeaders, troubleText } from '../../core/http/plain-text.ts';
import type { HeaderList } from '../../pipeline/ports.ts';
import type { Answer } from '../../pipeline/state.ts';

/** @param text absent: the status in words */
export function plainAnswer(
  status: number,
  requestId: string,
  { text, headers = [] }: { text?: string; headers?: HeaderList } = {},
): Answer {
  const body = troubleText(status, requestId, text);
  return {
    status,
    headers: [...textHeaders(body), ['X-Request-ID', requestId], ...headers],
    body: Buffer.from(body),
  };
}
