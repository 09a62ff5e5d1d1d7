// A client on a bare socket: sends any bytes, also wrong ones, and tells exactly what came back and
// how the connection ended.
import { connect, type Socket } from 'node:net';

export interface RawReply {
  /** Everything received, latin1. */
  readonly text: string;
  /** How the connection was when we stopped looking. */
  readonly end: 'open' | 'closed' | 'reset';
}

export interface RawOptions {
  /** Stop once this holds; otherwise when the connection ends. */
  readonly until?: (text: string) => boolean;
  /** Give up after this; the reply then says `open`. */
  readonly timeoutMs?: number;
  /** Told the socket once it is connected, after `bytes` are written. */
  readonly onConnected?: (socket: Socket) => void;
}

const TIMEOUT_MS = 10_000;

/** Sends `bytes` (text is latin1) to a loopback port and collects the reply. */
export function sendRaw(
  port: number,
  bytes: string | Buffer,
  { until, timeoutMs = TIMEOUT_MS, onConnected }: RawOptions = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    let text = '';
    let isReset = false;
    const socket = connect(port, '127.0.0.1');
    const finish = (end: RawReply['end']): void => {
      clearTimeout(timer);
      resolve({ text, end });
      socket.destroy();
    };
    const timer = setTimeout(() => finish('open'), timeoutMs);
    socket.once('connect', () => {
      socket.write(bytes, 'latin1');
      onConnected?.(socket);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (until?.(text)) finish('open');
    });
    socket.once('error', () => {
      isReset = true;
    });
    socket.once('close', () => finish(isReset ? 'reset' : 'closed'));
  });
}

/** The status codes of the answers in a reply, interim ones included. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status));
}

/** Whether a reply holds this many whole answers; bodies must have a length or be chunked. */
export function hasAnswers(count: number): (text: string) => boolean {
  return (text) => splitAnswers(text).length >= count;
}

export interface RawAnswer {
  readonly status: number;
  /** Status line and header lines. */
  readonly head: string;
  readonly body: string;
}

/** The whole final answers at the front of a reply to requests other than HEAD. */
export function splitAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd === -1) return answers;
    const head = rest.slice(0, headEnd);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]);
    rest = rest.slice(headEnd + 4);
    if (status < 200) continue;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
    const size = isChunked ? chunkedSize(rest) : length;
    if (size === null || rest.length < size) return answers;
    answers.push({ status, head, body: rest.slice(0, size) });
    rest = rest.slice(size);
  }
}

/** Where a chunked body ends, trailers included; null while its last chunk is missing. */
function chunkedSize(text: string): number | null {
  let position = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', position);
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    if (lineEnd === -1 || Number.isNaN(size)) return null;
    if (size > 0) {
      position = lineEnd + 2 + size + 2;
      continue;
    }
    // The line of the last chunk may itself be the first half of the empty line.
    const end = text.indexOf('\r\n\r\n', lineEnd);
    return end === -1 ? null : end + 4;
  }
}
