// The two readers of an origin's answer, over the same bytes: Node's HTTP client on a real socket,
// and the lane's own.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { type OriginHead, readAnswerHead } from '../../src/server/lane/read-answer.ts';
import { createBodyReader } from '../../src/server/lane/read-body.ts';

/** What a reader made of an answer. */
export interface Reading {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  /** latin1 */
  readonly body: string;
  readonly trailers: readonly string[];
  /** The body came to its end as its framing says. */
  readonly isWhole: boolean;
}

export interface NodeReader {
  /** What a server sends in these pieces before it closes; null: not even a head. */
  readonly read: (pieces: readonly string[]) => Promise<Reading | null>;
}

/** Node's client, and the server it reads from, for the tests of a file. */
export function useNodeReader(): NodeReader {
  let pieces: readonly string[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      for (const piece of pieces) socket.write(piece, 'latin1');
      socket.end();
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());
  return {
    read: async (sent) => {
      pieces = sent;
      const { port } = server.address() as AddressInfo;
      const request = get({ host: '127.0.0.1', port, agent: false, maxHeaderSize: 16_384 });
      request.maxHeadersCount = 0;
      // Its own errors come before a head, and behind a whole answer.
      request.on('error', () => undefined);
      request.once('upgrade', (_answer, socket) => socket.destroy());
      const readings: Promise<Reading>[] = [];
      request.once('response', (answer) => void readings.push(readAnswer(answer)));
      await new Promise((resolve) => request.once('close', resolve));
      return (await readings[0]) ?? null;
    },
  };
}

function readAnswer(answer: IncomingMessage): Promise<Reading> {
  let body = '';
  answer.on('data', (chunk: Buffer) => {
    body += chunk.toString('latin1');
  });
  answer.on('error', () => undefined);
  return new Promise((resolve) => {
    answer.once('close', () => {
      resolve({
        status: answer.statusCode ?? 0,
        reason: answer.statusMessage ?? '',
        headers: answer.rawHeaders,
        body,
        trailers: answer.rawTrailers,
        isWhole: answer.complete,
      });
    });
  });
}

/** The same by the lane; null: it takes no such head. */
export function readByLane(pieces: readonly string[]): Reading | null {
  const bytes = pieces.join('');
  const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
  const head = bodyAt === 3 ? null : readAnswerHead(bytes.slice(0, bodyAt));
  return head === null ? null : readBody(head, cutFrom(pieces, bodyAt));
}

function cutFrom(pieces: readonly string[], from: number): string[] {
  let at = 0;
  return pieces.map((piece) => {
    const cut = piece.slice(Math.max(0, from - at));
    at += piece.length;
    return cut;
  });
}

function readBody({ status, reason, headers, framing }: OriginHead, pieces: string[]): Reading {
  const reader = createBodyReader(framing);
  let body = '';
  let state = 'more';
  const onPiece = (piece: Buffer): void => {
    if (piece.length === 0) throw new Error('a piece of nothing would end a chunked body');
    body += piece.toString('latin1');
  };
  for (const piece of pieces) {
    if (state === 'more') state = reader.read(Buffer.from(piece, 'latin1'), onPiece);
  }
  const isWhole = state === 'whole' || (state === 'more' && reader.end());
  return { status, reason, headers, body, trailers: reader.trailers(), isWhole };
}

/** One place of a text made another. */
export interface Change {
  readonly at: number;
  readonly drop: number;
  readonly put: string;
}

export function changeText(text: string, { at, drop, put }: Change): string {
  const place = Math.min(at, text.length);
  return text.slice(0, place) + put + text.slice(place + drop);
}

/** @param cuts in any order */
export function cutText(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index] ?? 0, end));
}
