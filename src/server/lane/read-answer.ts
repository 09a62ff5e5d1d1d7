// The lane's own reading of an origin's answer head: the plainest spelling, with one way to read
// where its body ends (RFC 9112 §6.3). Anything else is left to Node's parser, by asking again.
import type { RawHeaders } from '../../core/http/hop-headers.ts';
import { FIELD, trimBlanks } from './read-head.ts';

/** Where a body ends. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** With the connection. */
  | { readonly kind: 'close' };

export interface OriginHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  readonly framing: Framing;
  /** Whether the connection can be used again. */
  readonly keepsAlive: boolean;
}

const CRLF = '\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;
const REASON_AT = STATUS_AT + '200 '.length;
const PLAIN = new RegExp(
  String.raw`^HTTP\/1\.1 [2-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:${FIELD})*\r\n$`,
);
/** With the blanks around them: behind a value that frames, Node takes no tab for one. */
const LENGTH = /^[\t ]*\d{1,15} *$/;
const CHUNKED = /^[\t ]*chunked *$/i;

/** Statuses whose framing follows rules of their own. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);
const RESET_CONTENT = 205;

/**
 * @param text the head with its empty line, latin1
 * @returns null: not for the lane
 */
export function readAnswerHead(text: string): OriginHead | null {
  if (!PLAIN.test(text)) return null;
  const lineEnd = text.indexOf(CRLF);
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  if (status === RESET_CONTENT) return null;
  const headers: string[] = [];
  let length: string | null = null;
  let coding: string | null = null;
  let connection = '';
  const last = text.length - CRLF.length;
  for (let start = lineEnd + CRLF.length; start < last; ) {
    const end = text.indexOf(CRLF, start);
    const colon = text.indexOf(':', start);
    const name = text.slice(start, colon);
    headers.push(name, trimBlanks(text, colon + 1, end));
    // Only these three matter here, and no other names are as long.
    if (name.length === 'content-length'.length && name.toLowerCase() === 'content-length') {
      if (length !== null) return null;
      length = text.slice(colon + 1, end);
    } else if (name.length === 'transfer-encoding'.length && /^transfer-encoding$/i.test(name)) {
      if (coding !== null) return null;
      coding = text.slice(colon + 1, end);
    } else if (name.length === 'connection'.length && /^connection$/i.test(name)) {
      connection += `,${text.slice(colon + 1, end).toLowerCase()}`;
    }
    start = end + CRLF.length;
  }
  const framing = frame(status, length, coding);
  if (framing === null) return null;
  const closes = connection !== '' && connection.split(',').some((one) => one.trim() === 'close');
  const keepsAlive = !closes && framing.kind !== 'close';
  return { status, reason: text.slice(REASON_AT, lineEnd), headers, framing, keepsAlive };
}

function frame(status: number, length: string | null, coding: string | null): Framing | null {
  if (coding !== null && (!CHUNKED.test(coding) || length !== null)) return null;
  if (length !== null && !LENGTH.test(length)) return null;
  if (BODYLESS.has(status)) return coding === null ? { kind: 'none' } : null;
  if (coding !== null) return { kind: 'chunked' };
  return length === null ? { kind: 'close' } : { kind: 'length', bytes: Number(length) };
}
