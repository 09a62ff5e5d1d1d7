// One request both ways, from socket to socket and through Node's parser, and what must not tell
// which way it went: the answer in all its parts, what the origin saw, and the log line.
import { expect } from 'vitest';
import type { RawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { HUMAN, type Stage } from '../scenario/stage.ts';
import { countParsed, openClient, slowly, withoutId } from './lane-client.ts';

/** A person's request in the plainest spelling. */
export function humanGet(
  target: string,
  fields: readonly string[] = [],
  host = 'site.test',
): string {
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, `User-Agent: ${HUMAN}`, ...fields];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** What is compared of an answer. */
export interface PassedAnswer {
  readonly statusLine: string;
  /** In their order, without framing. */
  readonly fields: readonly string[];
  readonly framing: readonly string[];
  /** Chunks put together; latin1. */
  readonly body: string;
  readonly trailers: readonly string[];
}

const FRAMING = /^(?:transfer-encoding|connection|keep-alive|content-length):/i;

/** Reads the first answer of a text; null: it is not whole. */
export function readAnswer(text: string): PassedAnswer | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [statusLine = '', ...lines] = text.slice(0, headEnd).split('\r\n');
  const framing = lines.filter((line) => FRAMING.test(line)).toSorted();
  const content = readContent(statusLine, framing, text.slice(headEnd + 4));
  if (content === null) return null;
  return { statusLine, fields: lines.filter((line) => !FRAMING.test(line)), framing, ...content };
}

type Content = Pick<PassedAnswer, 'body' | 'trailers'>;

function readContent(statusLine: string, framing: readonly string[], rest: string): Content | null {
  if (/^HTTP\/1\.1 (?:204|304)/.test(statusLine)) return { body: rest, trailers: [] };
  if (framing.some((line) => /^transfer-encoding: chunked$/i.test(line))) return joinChunks(rest);
  const length = Number(framing.find((line) => /^content-length:/i.test(line))?.slice(15));
  return rest.length < length ? null : { body: rest, trailers: [] };
}

function joinChunks(rest: string): Content | null {
  let body = '';
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = Number.parseInt(rest.slice(at, lineEnd), 16);
    if (lineEnd === -1) return null;
    if (size === 0) {
      const end = rest.indexOf('\r\n\r\n', lineEnd);
      if (end === -1) return null;
      const trailers = rest
        .slice(lineEnd + 2, end + 2)
        .split('\r\n')
        .slice(0, -1);
      return { body: body + rest.slice(end + 4), trailers };
    }
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}

/** Asks both ways over one connection, and answers with what the lane passed on. */
export async function expectSamePassing(
  { gateway, origin }: Pick<Stage, 'gateway' | 'origin'>,
  request: string,
): Promise<PassedAnswer> {
  const { port, log } = gateway;
  const parsed = countParsed(port);
  const lines = () => log.filter(({ msg }) => msg === 'request');
  const logged = lines().length;
  const asked = origin.requests.length;
  const fast = await askOnce(port, request);
  expect(parsed()).toBe(0);
  const slow = await askOnce(port, slowly(request));
  expect(parsed()).toBe(1);
  expect(fast).toEqual(slow);
  await waitUntil('two log lines', () => lines().length === logged + 2);
  const [one, other] = lines().slice(-2).map(withoutTime);
  expect(one).toBe(other);
  expect(askedSince(origin, asked)).toHaveLength(2);
  const [first, second] = askedSince(origin, asked);
  expect(first).toBe(second);
  return fast;
}

async function askOnce(port: number, request: string): Promise<PassedAnswer> {
  const client = await openClient(port);
  client.send(request);
  let answer: PassedAnswer | null = null;
  await waitUntil('a whole answer', () => {
    answer = readAnswer(withoutDate(withoutId(client.text())));
    return answer !== null;
  });
  client.socket.destroy();
  if (answer === null) throw new Error('it was waited for');
  return answer;
}

/** That of the gateway itself, between two seconds. */
function withoutDate(text: string): string {
  return text.replace(/^Date: \w{3}, \d\d \w{3} 20[^9]\d [\d:]{8} GMT$/gm, 'Date: now');
}

function askedSince({ requests }: RawOrigin, from: number): string[] {
  return requests.slice(from).map(({ head, body }) => head + body);
}

function withoutTime(line: Readonly<Record<string, unknown>>): string {
  const id = String(line['request_id']);
  const fields = { ...line, time: 0, duration_ms: 0, request_id: id.length === 36 ? '-' : id };
  return JSON.stringify(fields);
}

/** All counters of ours, by name and labels; no times. */
export async function readCounters({ gateway }: Pick<Stage, 'gateway'>): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines.filter((line) => /^edge_gateway_\w+(_total|_count)[ {]/.test(line)).toSorted();
}
