// The head of an answer as Node's server would write it, with the place of the request id left
// open: the one thing in it that differs from one request to the next.
import { reasonPhrase } from '../../core/http/status-text.ts';
import type { HeaderList } from '../../pipeline/ports.ts';

/** Latin1 bytes around the request id; empty behind it where none is told. */
export interface HeadParts {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly tellsRequestId: boolean;
}

export const ID_FIELD = 'X-Request-ID';
/** Stands for the request id: no value that a page could have brought along. */
export const OPEN_ID = '\0';

/** @param keepAliveMs what the connection may be silent for */
export function serializeHead(status: number, headers: HeaderList, keepAliveMs: number): HeadParts {
  const lines = headers.map(fieldLine);
  const idAt = headers.findIndex(([name, value]) => name === ID_FIELD && value === OPEN_ID);
  const start = `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`;
  const end = `${persistence(keepAliveMs)}\r\n`;
  if (idAt === -1) {
    return { before: latin1(start, ...lines, end), after: latin1(), tellsRequestId: false };
  }
  return {
    before: latin1(start, ...lines.slice(0, idAt), `${ID_FIELD}: `),
    after: latin1('\r\n', ...lines.slice(idAt + 1), end),
    tellsRequestId: true,
  };
}

/** One line of a head. */
function fieldLine([name, value]: readonly [string, string]): string {
  return `${name}: ${value}\r\n`;
}

/** How long a connection stays; null: it does not. */
export function persistence(keepAliveMs: number | null): string {
  if (keepAliveMs === null) return 'Connection: close\r\n';
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
}

function latin1(...texts: readonly string[]): Buffer {
  return Buffer.from(texts.join(''), 'latin1');
}
