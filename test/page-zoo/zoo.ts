// The page zoo: an origin with one page for everything that real pages do to a renderer. Plain
// JavaScript in place of the frameworks: what counts is what they do to the document.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { APP_PAGES } from './pages/apps.ts';
import { ENCODED_PAGES } from './pages/encodings.ts';
import { HOSTILE_PAGES } from './pages/hostile.ts';
import { LEAVING_PAGES } from './pages/leaving.ts';
import { NETWORK_PAGES } from './pages/networks.ts';
import { STYLE_PAGES } from './pages/styles.ts';

/** Text is a page; a function answers for itself. */
export type ZooPage = string | ((request: IncomingMessage, response: ServerResponse) => void);

export type ZooPages = Readonly<Record<string, ZooPage>>;

/** One request as it arrived. */
export interface ZooVisit {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export interface Zoo {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly visits: ZooVisit[];
  readonly close: () => Promise<void>;
}

const PAGES = new Map<string, ZooPage>(
  [APP_PAGES, ENCODED_PAGES, HOSTILE_PAGES, LEAVING_PAGES, NETWORK_PAGES, STYLE_PAGES].flatMap(
    (pages) => Object.entries(pages),
  ),
);

/** Opens the zoo, with more pages if wanted. */
export async function openZoo(more: ZooPages = {}): Promise<Zoo> {
  const visits: ZooVisit[] = [];
  const sockets = new Set<Duplex>();
  const pages = new Map([...PAGES, ...Object.entries(more)]);
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    visits.push({ method, url, headers });
    const page = pages.get(url.split('?')[0] ?? '');
    if (page === undefined) response.writeHead(404, HTML).end('<!doctype html><h1>none</h1>');
    else if (typeof page === 'string') response.writeHead(200, HTML).end(page);
    else page(request, response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    visits.push({ method: 'UPGRADE', url: request.url ?? '', headers: request.headers });
    webSockets.handleUpgrade(request, socket, head, (client) => client.send('from the socket'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    visits,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      webSockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const HTML = { 'content-type': 'text/html; charset=utf-8' };
