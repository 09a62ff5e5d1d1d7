// A real render service for tests: node:http, the product's own contract, no browser. What it
// answers is scripted by URL; what it was asked is kept. Unscripted URLs get a small page.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  encodeRenderAnswer,
  RENDER_ANSWER_TYPE,
  RENDER_MARK,
  type RenderErrorCode,
  type RenderHead,
} from '../../src/core/http/render-answer.ts';
import {
  parseRenderRequest,
  RENDER_PATH,
  type RenderRequest,
} from '../../src/core/http/render-request.ts';

export type RenderScript =
  | {
      readonly kind: 'page';
      readonly html: string | Uint8Array;
      readonly head?: Partial<RenderHead>;
    }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'failed'; readonly code: RenderErrorCode }
  /** The answer in a coding, named so or not. */
  | { readonly kind: 'gzip'; readonly html: string; readonly encoding?: string }
  /** A page of this many bytes. */
  | { readonly kind: 'huge'; readonly bytes: number }
  | { readonly kind: 'full' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  /** Cut after the first bytes of the page. */
  | { readonly kind: 'cut' }
  /** A page whose end is that of the connection. */
  | { readonly kind: 'unframed'; readonly html: string }
  /** Bytes that carry the mark and don't follow the contract. */
  | { readonly kind: 'garbage'; readonly bytes: Uint8Array }
  /** An answer without the mark, as a foreign server would give. */
  | { readonly kind: 'foreign'; readonly status: number; readonly body: string };

export interface TestRenderService {
  readonly url: string;
  readonly token: string;
  /** Every well-formed request, in order. */
  readonly requests: RenderRequest[];
  /** Answers for a URL, or for all others with `*`. */
  readonly script: (url: string, script: RenderScript) => void;
  /** What `/ready` says. */
  readonly setReady: (isReady: boolean) => void;
  readonly close: () => Promise<void>;
}

const TOKEN = 'test-render-token';
const EMPTY_HEAD: RenderHead = {
  outcome: 'complete',
  status: 200,
  final_url: null,
  location: null,
  headers: [['content-type', 'text/html']],
  timings: { total: 1 },
  pending_requests: [],
  console_errors: [],
  error: null,
};

/** Starts one on a loopback port; 0: on a free one. */
export async function startRenderService(listenPort = 0): Promise<TestRenderService> {
  const scripts = new Map<string, RenderScript>();
  const requests: RenderRequest[] = [];
  let isReady = true;

  const render = (request: IncomingMessage, response: ServerResponse): void => {
    readJson(request, (value) => {
      const parsed = parseRenderRequest(value);
      if (!parsed.ok) {
        response.writeHead(400).end(parsed.error);
        return;
      }
      requests.push(parsed.value);
      const { url } = parsed.value;
      play(response, scripts.get(url) ?? scripts.get('*') ?? defaultPage(parsed.value));
    });
  };
  const server = createServer((request, response) => {
    const isAuthorized = request.headers.authorization === `Bearer ${TOKEN}`;
    if (request.url === '/ready') response.writeHead(isReady ? 200 : 503).end();
    else if (request.method !== 'POST' || request.url !== RENDER_PATH)
      response.writeHead(404).end();
    else if (!isAuthorized) response.writeHead(401).end();
    else render(request, response);
  });
  await new Promise<void>((resolve) => server.listen(listenPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    requests,
    script: (url, script) => scripts.set(url, script),
    setReady: (value) => {
      isReady = value;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function defaultPage(request: RenderRequest): RenderScript {
  return { kind: 'page', html: `<!doctype html><title>${request.url}</title>` };
}

function play(response: ServerResponse, script: RenderScript): void {
  switch (script.kind) {
    case 'page':
      return answer(response, script.head ?? {}, toBytes(script.html));
    case 'redirect': {
      const { status, location } = script;
      return answer(response, { outcome: 'redirect', status, location }, toBytes(''));
    }
    case 'failed': {
      const error = { code: script.code, message: `scripted ${script.code}` };
      return answer(response, { outcome: 'failed', status: 0, headers: [], error }, toBytes(''));
    }
    case 'gzip': {
      const bytes = gzipSync(encodeRenderAnswer({ head: EMPTY_HEAD, html: toBytes(script.html) }));
      markHead(response, { 'content-encoding': script.encoding ?? 'gzip' }).end(bytes);
      return;
    }
    case 'huge':
      return answer(response, {}, new Uint8Array(script.bytes).fill(0x61));
    case 'full':
      response.writeHead(503, { 'retry-after': '1' }).end();
      return;
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'cut': {
      const bytes = encodeRenderAnswer({ head: EMPTY_HEAD, html: toBytes('<p>whole</p>') });
      markHead(response, { 'content-length': bytes.length + 1_000 });
      response.write(bytes, () => response.socket?.destroy());
      return;
    }
    case 'unframed':
      response.removeHeader('transfer-encoding');
      markHead(response, { connection: 'close' }).end(
        encodeRenderAnswer({ head: EMPTY_HEAD, html: toBytes(script.html) }),
      );
      return;
    case 'garbage':
      markHead(response, {}).end(script.bytes);
      return;
    case 'foreign':
      response.writeHead(script.status, { 'content-type': 'text/html' }).end(script.body);
  }
}

function answer(response: ServerResponse, head: Partial<RenderHead>, html: Uint8Array): void {
  markHead(response, {}).end(encodeRenderAnswer({ head: { ...EMPTY_HEAD, ...head }, html }));
}

function markHead(
  response: ServerResponse,
  headers: Readonly<Record<string, string | number>>,
): ServerResponse {
  const marks = { 'content-type': RENDER_ANSWER_TYPE, [RENDER_MARK.name]: RENDER_MARK.value };
  return response.writeHead(200, { ...marks, ...headers });
}

function toBytes(html: string | Uint8Array): Uint8Array {
  return typeof html === 'string' ? new TextEncoder().encode(html) : html;
}

function readJson(request: IncomingMessage, use: (value: unknown) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => use(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
}
