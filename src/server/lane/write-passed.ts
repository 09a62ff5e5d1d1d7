// An origin's answer on its way to the client's socket: its head as the long way would write it,
// its body in a framing of our own.
import { forwardableTrailers, type RawHeaders } from '../../core/http/hop-headers.ts';
import { returnResponseHeaders } from '../../core/http/returned-headers.ts';
import { dressAnswer } from '../bypass/dress-answer.ts';
import type { BypassTarget } from '../bypass/ports.ts';
import type { Outgoing } from './outgoing.ts';
import type { OriginHead } from './read-answer.ts';
import { persistence } from './serialize-head.ts';

export interface PassedTo {
  readonly outgoing: Outgoing;
  readonly target: BypassTarget;
  readonly pseudonym: string;
  /** null: the connection ends with this answer. */
  readonly keepAliveMs: number | null;
}

export interface PassedBody {
  readonly write: (piece: Buffer) => void;
  readonly end: (trailers: RawHeaders) => void;
}

const NO_CONTENT = 204;

/** Adds the head to what goes out; the body is to be added as it comes. */
export function beginAnswer(head: OriginHead, to: PassedTo): PassedBody {
  const { status, reason, framing } = head;
  const isChunked = framing.kind === 'chunked' || framing.kind === 'close';
  const headers = dressAnswer(
    returnResponseHeaders(head.headers, {
      pseudonym: to.pseudonym,
      httpVersion: '1.1',
      originUrl: to.target.originUrl,
      hostHeader: to.target.hostHeader,
      scheme: to.target.scheme,
      publicHost: to.target.publicHost,
      hasLength: status !== NO_CONTENT,
      hasTrailers: isChunked,
    }),
    to.target,
  );
  const coding = isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
  to.outgoing.addText(formatHead({ status, reason, headers }, coding, to.keepAliveMs));
  return isChunked ? writeChunks(to.outgoing) : writePlainly(to.outgoing);
}

interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
}

/** The text of a head, its empty line included; with a date, as from any server. */
export function formatHead(
  { status, reason, headers }: AnswerHead,
  framingLine: string,
  keepAliveMs: number | null,
): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  let hasDate = false;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === 'date'.length && name.toLowerCase() === 'date') hasDate = true;
    text += `${name}: ${headers[at + 1] ?? ''}\r\n`;
  }
  if (!hasDate) text += `Date: ${new Date().toUTCString()}\r\n`;
  return `${text}${framingLine}${persistence(keepAliveMs)}\r\n`;
}

function writePlainly(outgoing: Outgoing): PassedBody {
  return { write: (piece) => outgoing.addBytes(piece), end: () => undefined };
}

function writeChunks(outgoing: Outgoing): PassedBody {
  return {
    write: (piece) => {
      outgoing.addText(`${piece.length.toString(16)}\r\n`);
      outgoing.addBytes(piece);
      outgoing.addText('\r\n');
    },
    end: (trailers) => {
      const lines = forwardableTrailers(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
      outgoing.addText(`0\r\n${lines.join('')}\r\n`);
    },
  };
}
