// A real render service of another contract for tests: a socket server that speaks the wire of
// prerender, rendertron or browserless, no browser. Every request is kept as its bytes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ForeignName = 'prerender' | 'rendertron' | 'browserless';

export interface ForeignAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Buffer;
}

export type ForeignTrouble = 'hang' | 'reset' | 'cut';

export interface ForeignService {
  readonly url: string;
  /** Method, target, headers and body of each request, in order. */
  readonly requests: ForeignRequest[];
  /** The HTTP answer to everything that follows, as it stands. */
  readonly answer: (answer: ForeignAnswer) => void;
  /** A page in the contract's own way of saying its status. */
  readonly servePage: (page: ForeignAnswer) => void;
  readonly serve: (trouble: ForeignTrouble) => void;
  readonly close: () => Promise<void>;
}

export interface ForeignRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const HEALTH_PATHS = ['/', '/_ah/health', '/pressure'];
const HTML = ['Content-Type', 'text/html; charset=utf-8'] as const;

/** Starts one on a free loopback port, with a small page for every URL. */
export async function startForeignService(name: ForeignName): Promise<ForeignService> {
  const requests: ForeignRequest[] = [];
  let script: ForeignAnswer | ForeignTrouble = dress(name, {
    status: 200,
    headers: [HTML],
    body: '<p>ok</p>',
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers } = request;
      const path = target.split('?', 1)[0] ?? '';
      if (method === 'GET' && HEALTH_PATHS.includes(path)) {
        response.end();
        return;
      }
      requests.push({ method, target, headers, body: Buffer.concat(chunks).toString('utf8') });
      play(response, script);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (answer) => {
      script = answer;
    },
    servePage: (page) => {
      script = dress(name, page);
    },
    serve: (trouble) => {
      script = trouble;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** How each contract carries a page. */
function dress(name: ForeignName, { status, headers, body }: ForeignAnswer): ForeignAnswer {
  if (name === 'prerender') return { status, headers, body };
  if (name === 'rendertron') {
    return { status, headers: [...headers, ['X-Renderer', 'rendertron']], body };
  }
  return { status: 200, headers: [HTML, ['X-Response-Code', String(status)]], body };
}

function play(response: ServerResponse, script: ForeignAnswer | ForeignTrouble): void {
  if (script === 'hang') return;
  if (script === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (script === 'cut') {
    response.writeHead(200, [
      'Content-Length',
      '1000',
      'X-Renderer',
      'x',
      'X-Response-Code',
      '200',
    ]);
    response.write('<p>', () => response.socket?.destroy());
    return;
  }
  const length = ['Content-Length', String(Buffer.byteLength(script.body))];
  response.writeHead(script.status, [...script.headers.flat(), ...length]).end(script.body);
}
