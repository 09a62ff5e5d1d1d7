// Short answers of our own: plain text, with the request id where something went wrong, never with
// an inner address or a stack, and never kept by anybody.
import type { HeaderList } from './header-list.ts';
import { statusText } from './status-text.ts';
import { UNKEPT_CONTROL } from './tell-downstream.ts';

/** The body of an answer that says no. */
export function troubleText(
  status: number,
  requestId: string,
  text = `${status} ${statusText(status)}`,
): string {
  return `${text}\nrequest id: ${requestId}\n`;
}

/** The fields of a text of our own. */
export function textHeaders(text: string): HeaderList {
  return [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', String(new TextEncoder().encode(text).length)],
    ['Cache-Control', UNKEPT_CONTROL],
  ];
}
