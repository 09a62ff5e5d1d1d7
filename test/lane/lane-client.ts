// A client that keeps its connection, and a witness of what Node's parser saw on a port: what the
// parser has not seen was answered by the lane.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { splitAnswers } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { BOT } from '../scenario/stage.ts';

/** Published by Node for each request its parser has read. */
const STARTED = 'http.server.request.start';

export interface Client {
  readonly socket: Socket;
  /** Everything received, latin1. */
  readonly text: () => string;
  readonly isClosed: () => boolean;
  readonly send: (bytes: string) => void;
  /** Resolves when there are so many whole answers, with all that came. */
  readonly answers: (count: number) => Promise<readonly string[]>;
  /** Sends one request and answers with its answer. */
  readonly ask: (bytes: string) => Promise<string>;
}

/** A crawler's request in the plainest spelling. */
export function plainGet(
  target: string,
  fields: readonly string[] = [],
  host = 'site.test',
): string {
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, `User-Agent: ${BOT}`, ...fields];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** The same request with a field that the lane leaves to others, who ignore it. */
export function slowly(request: string): string {
  return request.replace(/\r\n\r\n$/, '\r\nKeep-Alive: timeout=5\r\n\r\n');
}

/** Larger answers have codings, which follow the page a moment after it was stored. */
const UNCODED_CHARS_MAX = 1_500;

/** Asks the long way until a page is in memory, with all that is going to be stored of it. */
export async function warm(client: Client, request: string): Promise<void> {
  const plain = request.replace(/\r\nAccept-Encoding:[^\r]*/, '');
  const coded = slowly(plain.replace(/\r\n\r\n$/, '\r\nAccept-Encoding: br\r\n\r\n'));
  await waitUntil('the page is stored', async () => {
    const text = await client.ask(coded);
    const isWhole = text.length < UNCODED_CHARS_MAX || text.includes('\r\nContent-Encoding: br');
    return text.includes('; hit;') && isWhole;
  });
  for (let i = 0; i < 2; i += 1) await client.ask(slowly(request));
}

/** An answer but for the id that each has for itself. */
export function withoutId(text: string): string {
  return text.replace(/^(X-Request-ID: )[0-9a-f-]{36}$/gm, '$1-');
}

/** Connects to a loopback port until the test has finished. */
export async function openClient(port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay();
  await once(socket, 'connect');
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => {
    isClosed = true;
  });
  onTestFinished(() => void socket.destroy());
  const answers = async (count: number): Promise<readonly string[]> => {
    await waitUntil(`${count} answers`, () => splitAnswers(text).length >= count);
    return splitAnswers(text).map(({ head, body }) => `${head}\r\n\r\n${body}`);
  };
  return {
    socket,
    text: () => text,
    isClosed: () => isClosed,
    send: (bytes) => void socket.write(bytes, 'latin1'),
    answers,
    ask: async (bytes) => {
      const before = splitAnswers(text).length;
      socket.write(bytes, 'latin1');
      return (await answers(before + 1))[before] ?? '';
    },
  };
}

/** Counts from now on what Node's parser reads on a port of this process. */
export function countParsed(port: number): () => number {
  let count = 0;
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort === port) count += 1;
  };
  subscribe(STARTED, note);
  onTestFinished(() => void unsubscribe(STARTED, note));
  return () => count;
}
