// llhttp takes any number of spaces between the parts of a request line; other parsers split it
// elsewhere (RFC 9112 §3), and nothing Node hands over still shows it. So the raw bytes are looked
// at: the start of each chunk that begins a message, and of the bodyless messages pipelined behind.
// The cost is one scan of the head and that Node parses from JS buffers; both are within noise.
import { METHODS } from 'node:http';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HEAD_END = Buffer.from('\r\n\r\n');
const METHOD_CHARS_MAX = 16;
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

export interface Inspection {
  /** A message has a request line with other spacing than two single spaces. */
  readonly isLoose: boolean;
  /** What the bytes stopped inside of. After a body nothing is known. */
  readonly stoppedIn: 'request_line' | 'head' | 'body' | 'nothing';
  /** Where the unfinished request line starts. */
  readonly offset: number;
}

/** Looks at the request lines of a chunk that begins with a message head. */
export function inspectRequestLines(chunk: Buffer): Inspection {
  let start = 0;
  while (start < chunk.length) {
    while (chunk[start] === CR || chunk[start] === LF) start += 1;
    const lineEnd = chunk.indexOf(LF, start);
    if (lineEnd === -1) return { isLoose: false, stoppedIn: 'request_line', offset: start };
    if (isLooseLine(chunk, start, lineEnd)) {
      return { isLoose: true, stoppedIn: 'nothing', offset: start };
    }
    const headEnd = chunk.indexOf(HEAD_END, lineEnd - 1);
    if (headEnd === -1) return { isLoose: false, stoppedIn: 'head', offset: start };
    if (announcesBody(chunk.toString('latin1', start, headEnd))) {
      return { isLoose: false, stoppedIn: 'body', offset: start };
    }
    start = headEnd + HEAD_END.length;
  }
  return { isLoose: false, stoppedIn: 'nothing', offset: start };
}

/** Judges only what starts with a method: after a body, a chunk may begin inside a head. */
function isLooseLine(chunk: Buffer, start: number, end: number): boolean {
  const first = chunk.indexOf(SPACE, start);
  if (first === -1 || first >= end || first - start > METHOD_CHARS_MAX) return false;
  if (!KNOWN_METHODS.has(chunk.toString('latin1', start, first))) return false;
  const second = chunk.indexOf(SPACE, first + 1);
  if (second === -1 || second >= end) return false;
  return second === first + 1 || chunk[second + 1] === SPACE;
}

function announcesBody(head: string): boolean {
  return /\n(?:content-length|transfer-encoding)[ \t]*:/i.test(head);
}
