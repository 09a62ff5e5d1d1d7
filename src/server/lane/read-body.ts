// Where an answer's body ends, piece by piece as it comes. Framing is taken off here and put on
// anew by whoever sends it on: a client reads the lengths that were read here, and no others.
import type { RawHeaders } from '../../core/http/hop-headers.ts';
import type { Framing } from './read-answer.ts';

/** `broken`: what came is no body of this framing. */
export type BodyState = 'more' | 'whole' | 'broken';

export interface BodyReader {
  readonly read: (chunk: Buffer, onPiece: (piece: Buffer) => void) => BodyState;
  /** Whether the body is whole now that no more comes. */
  readonly end: () => boolean;
  /** Bytes came behind the body. */
  readonly hasRest: () => boolean;
  /** Name, value, name, value … */
  readonly trailers: () => RawHeaders;
}

const NO_TRAILERS: RawHeaders = [];

export function createBodyReader(framing: Framing): BodyReader {
  switch (framing.kind) {
    case 'none':
      return readLength(0);
    case 'length':
      return readLength(framing.bytes);
    case 'close':
      return {
        read: (chunk, onPiece) => {
          if (chunk.length > 0) onPiece(chunk);
          return 'more';
        },
        end: () => true,
        hasRest: () => false,
        trailers: () => NO_TRAILERS,
      };
    case 'chunked':
      return readChunks();
  }
}

function readLength(bytes: number): BodyReader {
  let left = bytes;
  let hasRest = false;
  return {
    read: (chunk, onPiece) => {
      const piece = chunk.length > left ? chunk.subarray(0, left) : chunk;
      hasRest = chunk.length > left;
      left -= piece.length;
      if (piece.length > 0) onPiece(piece);
      return left === 0 ? 'whole' : 'more';
    },
    end: () => left === 0,
    hasRest: () => hasRest,
    trailers: () => NO_TRAILERS,
  };
}

/** A size with what extends it, or all trailer fields. */
const LINES_BYTES_MAX = 16_384;
const LF = 10;
const TOKEN = String.raw`[!#$%&'*+\-.^_\x60|~0-9A-Za-z]+`;
const QUOTED = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`;
/** Up to what a number holds exactly. */
const SIZE = new RegExp(`^0*([0-9A-Fa-f]{1,13})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED})?)?)*\r\n$`);
const TRAILER = new RegExp(String.raw`^(${TOKEN}):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\r\n$`);
/** They would frame the message anew. */
const FRAMING = /^(?:content-length|transfer-encoding)$/i;

/** RFC 9112 §7.1; extensions say nothing to anybody but the sender of a hop, and end here. */
function readChunks(): BodyReader {
  let state: 'size' | 'data' | 'behind_data' | 'trailer' | 'whole' = 'size';
  let left = 0;
  let line = '';
  let hasRest = false;
  const trailers: string[] = [];
  let trailerBytes = 0;

  /** Takes one line that is complete; false: it is none. */
  const takeLine = (text: string): boolean => {
    if (state === 'behind_data') {
      state = 'size';
      return text === '\r\n';
    }
    if (state === 'size') {
      const digits = SIZE.exec(text)?.[1];
      if (digits === undefined) return false;
      left = Number.parseInt(digits, 16);
      state = left === 0 ? 'trailer' : 'data';
      return true;
    }
    if (text === '\r\n') {
      state = 'whole';
      return true;
    }
    const [, name, value] = TRAILER.exec(text) ?? [];
    if (name === undefined || value === undefined || FRAMING.test(name)) return false;
    trailers.push(name, value);
    trailerBytes += text.length;
    return trailerBytes <= LINES_BYTES_MAX;
  };

  const read: BodyReader['read'] = (chunk, onPiece) => {
    let at = 0;
    while (at < chunk.length && state !== 'whole') {
      if (state === 'data') {
        const piece = chunk.subarray(at, at + left);
        at += piece.length;
        left -= piece.length;
        if (left === 0) state = 'behind_data';
        onPiece(piece);
        continue;
      }
      const lineEnd = chunk.indexOf(LF, at);
      const end = lineEnd === -1 ? chunk.length : lineEnd + 1;
      line += chunk.toString('latin1', at, end);
      at = end;
      if (line.length > LINES_BYTES_MAX) return 'broken';
      if (lineEnd === -1) return 'more';
      if (!takeLine(line)) return 'broken';
      line = '';
    }
    hasRest = at < chunk.length;
    return state === 'whole' ? 'whole' : 'more';
  };
  return {
    read,
    end: () => state === 'whole',
    hasRest: () => hasRest,
    trailers: () => trailers,
  };
}
