// The render service: the HTTP contract on top of a renderer. Node's own server is enough, because
// there are four endpoints and nothing of a client ever reaches this listener.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  encodeRenderAnswer,
  RENDER_ANSWER_TYPE,
  RENDER_MARK,
} from '../../core/http/render-answer.ts';
import { parseRenderRequest, RENDER_PATH } from '../../core/http/render-request.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { Log, PoolSize, RenderServiceOptions } from '../options.ts';
import { NoBrowserError } from '../pool/render-pool.ts';
import { QueueFullError } from '../pool/work-queue.ts';
import { isAuthorized, isLocal } from './authorize.ts';
import { createRenderer, type Renderer } from './create-renderer.ts';
import { openListener } from './listen.ts';

export interface RenderService {
  /** `http://host:port`, or the path of the socket. */
  readonly address: string;
  /** Process id of the browser that runs now, or null: for whoever watches it. */
  readonly browserPid: () => number | null;
  /** Resolves when its first canary was well: from then on `/ready` says so. */
  readonly proven: Promise<void>;
  readonly resize: (size: PoolSize) => void;
  /** Ends what runs, the browser with all its processes, and the listener. */
  readonly close: () => Promise<void>;
}

/** Starts a render service; it listens when this resolves, and the browser runs. */
export async function startRenderService(options: RenderServiceOptions): Promise<RenderService> {
  const token = options.token ?? null;
  if (token === null && !isLocal(options.listen)) {
    throw new Error('a render service that other machines can reach needs a token');
  }
  const renderer = await createRenderer(options);
  const server = createServer((request, response) => {
    void handle(request, response, { renderer, token, log: options.log ?? (() => undefined) });
  });
  try {
    const address = await openListener(server, options.listen);
    return {
      address,
      browserPid: () => renderer.pool.browserPid,
      proven: renderer.proven,
      resize: (size) => renderer.pool.resize(size),
      close: () => close(server, renderer),
    };
  } catch (error) {
    await renderer.close();
    throw error;
  }
}

interface Context {
  readonly renderer: Renderer;
  readonly token: string | null;
  readonly log: Log;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const { renderer, token, log } = context;
  const place = `${request.method ?? ''} ${request.url ?? ''}`;
  if (place === 'GET /health') return say(response, 200, 'alive\n');
  if (place === 'GET /ready') {
    const isReady = renderer.isReady();
    return say(response, isReady ? 200 : 503, isReady ? 'ready\n' : 'not ready\n');
  }
  if (place === 'GET /metrics') {
    const text = renderer.metrics.write(renderer.pool.state, renderer.isReady());
    return say(response, 200, text);
  }
  if (place !== `POST ${RENDER_PATH}`) return say(response, 404, 'not found\n');
  if (!isAuthorized(request.headers, token)) return say(response, 401, 'unauthorized\n');
  try {
    await answerRender(request, response, renderer);
  } catch (error) {
    if (error instanceof QueueFullError) {
      renderer.metrics.turnedAway();
      response.setHeader('retry-after', '1');
      return say(response, 503, 'full\n');
    }
    if (error instanceof NoBrowserError) return say(response, 500, 'no browser\n');
    // The asker left in the middle of its question, or something of ours broke: no answer either
    // way.
    response.destroy();
    log('error', 'a question was not answered', { message: String(error) });
  }
}

async function answerRender(
  request: IncomingMessage,
  response: ServerResponse,
  renderer: Renderer,
): Promise<void> {
  const text = await readText(request);
  if (text === null) {
    response.setHeader('connection', 'close');
    return say(response, 413, 'too large\n');
  }
  const question = parseRenderRequest(parseJson(text));
  if (!question.ok) return say(response, 400, `bad request: ${question.error}\n`);
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort();
  });
  const answer = await renderer.render(question.value, left.signal);
  const bytes = encodeRenderAnswer(answer);
  response.writeHead(200, {
    'content-type': RENDER_ANSWER_TYPE,
    'content-length': bytes.length,
    [RENDER_MARK.name]: RENDER_MARK.value,
  });
  response.end(bytes);
}

/** The body as text; null when it is larger than any question. */
async function readText(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = chunk as Buffer;
    bytes += part.length;
    // The rest is read and dropped: an unread body would cost the sender our answer.
    if (bytes <= RENDER_LIMITS.requestBytesMax) chunks.push(part);
    else chunks.length = 0;
  }
  return bytes > RENDER_LIMITS.requestBytesMax ? null : Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Refused like any other value that is no question.
    return null;
  }
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

async function close(server: Server, renderer: Renderer): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await renderer.close();
  server.closeAllConnections();
  await closed;
}
