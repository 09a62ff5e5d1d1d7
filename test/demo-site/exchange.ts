// One request to the demo site and the few ways it answers: HTML, JSON, text, bytes, a redirect.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request target, resolved against the address the client asked for. */
  readonly url: URL;
}

export type Handler = (exchange: Exchange) => void | Promise<void>;

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Answers with a page; it may be kept for a minute and checked again by its ETag. */
export function sendHtml(exchange: Exchange, html: string, headers: Headers = {}): void {
  const body = Buffer.from(html);
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  const common = { 'cache-control': 'public, max-age=60', etag, ...headers };
  if (exchange.request.headers['if-none-match'] === etag) {
    send(exchange, 304, common);
    return;
  }
  send(exchange, 200, { 'content-type': 'text/html; charset=utf-8', ...common }, body);
}

/** Answers with a short page that nobody should keep. */
export function sendMessage(
  exchange: Exchange,
  status: number,
  text: string,
  more?: Headers,
): void {
  const html = `<!doctype html><html lang="en"><title>${text}</title><h1>${text}</h1></html>\n`;
  send(
    exchange,
    status,
    { 'content-type': 'text/html; charset=utf-8', ...more },
    Buffer.from(html),
  );
}

/** Answers with JSON, pretty enough for a terminal. */
export function sendJson(exchange: Exchange, value: unknown, headers: Headers = {}): void {
  const body = Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
  send(exchange, 200, { 'content-type': 'application/json', ...headers }, body);
}

/** Answers with bytes and their exact length; `HEAD` gets the same head. */
export function send(exchange: Exchange, status: number, headers: Headers, body?: Buffer): void {
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  exchange.response.writeHead(status, { ...copyHeaders(headers), ...length });
  exchange.response.end(body);
}

/** Node wants mutable lists. */
function copyHeaders(headers: Headers): Record<string, string | string[]> {
  const entries = Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
}

/** A whole number from the query, within bounds. */
export function readNumber(
  url: URL,
  name: string,
  bounds: { default: number; max: number },
): number {
  const text = url.searchParams.get(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), bounds.max) : bounds.default;
}
