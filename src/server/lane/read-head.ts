// The fast lane's own reading of a request: one whole GET head in one chunk, in the plainest
// spelling there is. Whatever is odd in any way is left to Node's parser and the pipeline. Nothing
// is repaired here, so nothing can be read in two ways.
import type { RawHeaders } from '../../core/http/hop-headers.ts';
import { createNameTable } from '../../core/http/name-table.ts';
import { createRecentMap } from '../../core/recent-map.ts';

/** One request as the lane reads it. Texts are latin1, as on the wire; null: not sent. */
export interface PlainHead {
  /** All of them, as Node's parser would list them. */
  readonly fields: RawHeaders;
  /** In origin form. */
  readonly target: string;
  readonly host: string;
  readonly userAgent: string | null;
  readonly forwardedFor: string | null;
  readonly requestId: string | null;
  readonly via: string | null;
  /** Asks for something only under a condition, or for a part of it. */
  readonly isConditional: boolean;
  /** Of everything that decides what the request comes to, but for the client's address. */
  readonly name: string;
}

const METHOD = 'GET ';
const VERSION = ' HTTP/1.1';
const CRLF = '\r\n';
const LF = 10;
const SPACE = 32;
const TAB = 9;

const TARGET = String.raw`\/[!"$-~]*`;
/** One field line of a head, of a request or an answer. */
export const FIELD = String.raw`[!#$%&'*+\-.^_\`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n`;

/**
 * The whole grammar: no blanks but the expected ones, no folded lines, no controls, no raw `#` in
 * the target, and nothing behind the head.
 */
const PLAIN = new RegExp(String.raw`^GET ${TARGET} HTTP\/1\.1\r\n(?:${FIELD})+\r\n$`);

/** Fields that are read; their places in what `pickValues` returns. */
const READ_NAMES = [
  'host',
  'user-agent',
  'accept-encoding',
  'x-forwarded-for',
  'x-request-id',
  'via',
  'connection',
  'authorization',
];

/** Share the place behind them: it is enough to know that there is one. */
const CONDITION_NAMES = [
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
];
const CONDITION = READ_NAMES.length;

/** Fields of the connection and of bodies: more than the lane understands. */
const REFUSED_NAMES = [
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const REFUSED = -1;

const placeOf = createNameTable<number>([
  ...READ_NAMES.map((name, place) => [name, place] as const),
  ...CONDITION_NAMES.map((name) => [name, CONDITION] as const),
  ...REFUSED_NAMES.map((name) => [name, REFUSED] as const),
]);

/** Of heads that are known again. */
const HEADS_MAX = 1_024;
const KNOWN_CHARS_MAX = 512;

/**
 * A reader that knows again what it has read lately: a crawler says the same in the same words.
 *
 * @param fieldsMax more fields are for the door to refuse
 */
export function createHeadReader(fieldsMax: number): (chunk: Buffer) => PlainHead | null {
  const heads = createRecentMap<PlainHead>(HEADS_MAX);
  return (chunk) => {
    // Half of a head, or a body, is nearly always told by its last byte.
    if (chunk[chunk.length - 1] !== LF) return null;
    const text = chunk.toString('latin1');
    // Looking up a long text costs as much as reading it.
    if (text.length > KNOWN_CHARS_MAX) return readHead(text, fieldsMax);
    const known = heads.get(text);
    if (known !== undefined) return known;
    const head = readHead(text, fieldsMax);
    if (head !== null && !isProxied(head)) heads.set(text, head);
    return head;
  };
}

/** What proxies add is never the same again. */
function isProxied({ forwardedFor, requestId, via }: PlainHead): boolean {
  return forwardedFor !== null || requestId !== null || via !== null;
}

/**
 * @param text latin1
 * @param fieldsMax more fields are for the door to refuse
 * @returns null: not for the lane
 */
function readHead(text: string, fieldsMax: number): PlainHead | null {
  if (!text.startsWith(METHOD) || !PLAIN.test(text)) return null;
  const lineEnd = text.indexOf(CRLF);
  const fields = listFields(text, lineEnd + CRLF.length);
  const values = fields.length > 2 * fieldsMax ? null : pickValues(fields);
  if (values === null) return null;
  const [host, userAgent, acceptEncoding, forwardedFor, requestId, via, connection] = values;
  const [authorization = null, condition = null] = values.slice(CONDITION - 1);
  if (typeof host !== 'string' || !keepsAlive(connection ?? null)) return null;
  const target = text.slice(METHOD.length, lineEnd - VERSION.length);
  const isConditional = condition !== null;
  // Answers to a condition, or to somebody known, are nobody else's.
  const kind = `${authorization !== null ? 'a' : ''}${isConditional ? 'c' : ''}`;
  return {
    fields,
    target,
    host,
    userAgent: userAgent ?? null,
    forwardedFor: forwardedFor ?? null,
    requestId: requestId ?? null,
    via: via ?? null,
    isConditional,
    name: `${kind}\n${acceptEncoding ?? ''}\n${userAgent ?? ''}\n${host}\n${target}`,
  };
}

function keepsAlive(connection: string | null): boolean {
  return connection === null || connection === 'keep-alive' || /^keep-alive$/i.test(connection);
}

/** Name, value, name, value … */
function listFields(text: string, from: number): RawHeaders {
  const fields: string[] = [];
  const last = text.length - CRLF.length;
  for (let start = from; start < last; ) {
    const end = text.indexOf(CRLF, start);
    const colon = text.indexOf(':', start);
    fields.push(text.slice(start, colon), trimBlanks(text, colon + 1, end));
    start = end + CRLF.length;
  }
  return fields;
}

/** Values in the order of `READ_NAMES`; null: a field is refused. */
function pickValues(fields: RawHeaders): (string | null)[] | null {
  const values: (string | null)[] = [null, null, null, null, null, null, null, null, null];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const place = placeOf(fields[at] ?? '');
    // Twice is odd as well.
    const isTwice = place !== undefined && place !== CONDITION && values[place] !== null;
    if (place === REFUSED || isTwice) return null;
    if (place !== undefined) values[place] = fields[at + 1] ?? '';
  }
  return values;
}

/** Spaces and tabs: other blanks of latin1 are part of the value. */
export function trimBlanks(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
