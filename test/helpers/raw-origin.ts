// An origin on a bare socket: records the very bytes of every request and answers whatever bytes a
// test wants, well-formed or not. Real HTTP servers would tidy up both.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface RawRequest {
  readonly method: string;
  readonly target: string;
  /** Request line and header lines, latin1, without the empty line. */
  readonly head: string;
  /** Lower-case names with their values, repeats kept. */
  readonly fields: readonly (readonly [string, string])[];
  /** Decoded body. */
  readonly body: string;
  /** Trailer lines of a chunked body, latin1. */
  readonly trailers: string;
}

/** Gives the raw answer to a whole request; null: nothing is sent. May also use the socket itself. */
export type Answer = (request: RawRequest, socket: Socket) => string | Buffer | null;

export interface RawOriginOptions {
  readonly answer?: Answer;
  /** Called when a head has arrived, before the body: for early and interim answers. */
  readonly onHead?: (head: string, socket: Socket) => void;
}

export interface RawOrigin {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly RawRequest[];
  /** Heads seen so far, whether or not their bodies ended. */
  readonly heads: readonly string[];
  readonly openConnections: () => number;
  readonly close: () => Promise<void>;
}

export const OK_ANSWER =
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok';

/** Starts on a free loopback port; answers `200 ok` unless told otherwise. */
export async function startRawOrigin(options: RawOriginOptions = {}): Promise<RawOrigin> {
  const requests: RawRequest[] = [];
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const answer = options.answer ?? (() => OK_ANSWER);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Gateways reset connections; that is what some tests are about.
    socket.on('error', () => socket.destroy());
    let buffer = '';
    let isHeadSeen = false;
    socket.on('data', (chunk) => {
      buffer += chunk.toString('latin1');
      for (;;) {
        const headEnd = buffer.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const head = buffer.slice(0, headEnd);
        if (!isHeadSeen) {
          isHeadSeen = true;
          heads.push(head);
          options.onHead?.(head, socket);
        }
        const parsed = parseBody(head, buffer.slice(headEnd + 4));
        if (parsed === null) return;
        buffer = parsed.rest;
        isHeadSeen = false;
        const request = { ...parseHead(head), body: parsed.body, trailers: parsed.trailers };
        requests.push(request);
        const bytes = answer(request, socket);
        if (bytes !== null) socket.write(bytes, 'latin1');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    heads,
    openConnections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** All values of one field of a recorded request. */
export function valuesOf(request: RawRequest | undefined, name: string): string[] {
  return (request?.fields ?? []).filter(([field]) => field === name).map(([, value]) => value);
}

function parseHead(head: string): Pick<RawRequest, 'method' | 'target' | 'head' | 'fields'> {
  const [requestLine = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = requestLine.split(' ');
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { method, target, head, fields };
}

interface ParsedBody {
  readonly body: string;
  readonly trailers: string;
  readonly rest: string;
}

function parseBody(head: string, bytes: string): ParsedBody | null {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return parseChunks(bytes);
  const size = Number(length ?? 0);
  if (bytes.length < size) return null;
  return { body: bytes.slice(0, size), trailers: '', rest: bytes.slice(size) };
}

function parseChunks(bytes: string): ParsedBody | null {
  let body = '';
  let position = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.slice(position, lineEnd), 16);
    if (size === 0) return parseTrailers(body, bytes.slice(lineEnd + 2));
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return null;
    body += bytes.slice(lineEnd + 2, lineEnd + 2 + size);
    position = next;
  }
}

function parseTrailers(body: string, bytes: string): ParsedBody | null {
  if (bytes.startsWith('\r\n')) return { body, trailers: '', rest: bytes.slice(2) };
  const end = bytes.indexOf('\r\n\r\n');
  return end === -1 ? null : { body, trailers: bytes.slice(0, end), rest: bytes.slice(end + 4) };
}
