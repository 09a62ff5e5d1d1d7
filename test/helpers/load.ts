// A steady load of keep-alive requests on loopback, bounded in rate and in count of connections: it
// looks at every answer, and counts what a client would call a failure. Stops when told to.
import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BOT } from '../scenario/stage.ts';

export interface Shot {
  readonly port: number;
  readonly target: string;
  readonly status: number;
  readonly head: string;
  /** latin1; answers are expected to have a length. */
  readonly body: string;
  /** `performance.now()` when it was sent, and how long the whole answer took. */
  readonly sentAt: number;
  readonly tookMs: number;
}

export interface LoadOptions {
  /** Connections are spread over these. */
  readonly ports: readonly number[];
  readonly connections: number;
  /** Of all connections together; absent: as fast as answers come. */
  readonly perSecond?: number;
  readonly next: () => string;
  readonly userAgent?: string;
  readonly host?: string;
  readonly onShot: (shot: Shot) => void;
}

export interface LoadReport {
  readonly shots: number;
  /** Connections that ended, were refused or said nonsense while an answer was owed. */
  readonly failures: readonly string[];
}

export interface Load {
  readonly report: () => LoadReport;
  /** Lets open requests end, then answers the report. */
  readonly stop: () => Promise<LoadReport>;
}

const ANSWER_MS_MAX = 30_000;

/** Starts the load; every connection sends its next request when its turn has come. */
export function startLoad(options: LoadOptions): Load {
  const { ports, connections, perSecond = Number.POSITIVE_INFINITY } = options;
  const turnMs = (connections * 1_000) / perSecond;
  const failures: string[] = [];
  let shots = 0;
  let isStopping = false;
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);

  async function runConnection(index: number): Promise<void> {
    const port = ports[index % ports.length] ?? 0;
    const line = new Line(port);
    let turnAt = performance.now() + (turnMs === 0 ? 0 : (turnMs * index) / connections);
    while (!isStopping) {
      await waitUntilTurn(turnAt, stopping.signal);
      if (isStopping) break;
      turnAt = Math.max(turnAt + turnMs, performance.now() - turnMs);
      const target = options.next();
      const sentAt = performance.now();
      try {
        const answer = await line.ask(requestText(target, options));
        shots += 1;
        options.onShot({ port, target, ...answer, sentAt, tookMs: performance.now() - sentAt });
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    line.close();
  }

  const running = Array.from({ length: connections }, (_, index) => runConnection(index));
  return {
    report: () => ({ shots, failures }),
    stop: async () => {
      isStopping = true;
      stopping.abort();
      await Promise.all(running);
      return { shots, failures };
    },
  };
}

function requestText(target: string, { userAgent = BOT, host = 'site.test' }: LoadOptions): string {
  return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${userAgent}\r\n\r\n`;
}

function waitUntilTurn(turnAt: number, signal: AbortSignal): Promise<void> {
  const waitMs = turnAt - performance.now();
  if (!(waitMs > 1) || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

interface LineAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** One keep-alive connection; opened again whenever it was closed between two answers. */
class Line {
  readonly #port: number;
  #socket: Socket | null = null;
  #text = '';
  #owed: { resolve: (answer: LineAnswer) => void; reject: (error: Error) => void } | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  ask(request: string): Promise<LineAnswer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail('no answer in time'), ANSWER_MS_MAX);
      const settle = (): void => clearTimeout(timer);
      this.#owed = {
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#socket ??= this.#open();
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
    this.#text = '';
    let reason = 'closed';
    socket.on('data', (chunk) => this.#read(chunk.toString('latin1')));
    socket.on('error', (error) => {
      reason = error.message;
    });
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#fail(reason);
    });
    return socket;
  }

  #read(text: string): void {
    this.#text += text;
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = this.#text.slice(0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const isEmpty = status === 304 || status === 204;
    const length = isEmpty
      ? 0
      : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(status) || Number.isNaN(length)) {
      this.#fail(`an answer without status or length: ${head.slice(0, 80)}`);
      return;
    }
    if (this.#text.length < headEnd + 4 + length) return;
    const body = this.#text.slice(headEnd + 4, headEnd + 4 + length);
    this.#text = this.#text.slice(headEnd + 4 + length);
    if (/\r\nconnection: *close/i.test(head)) this.close();
    const owed = this.#owed;
    this.#owed = null;
    owed?.resolve({ status, head, body });
  }

  #fail(reason: string): void {
    this.close();
    const owed = this.#owed;
    this.#owed = null;
    owed?.reject(new Error(reason));
  }
}
