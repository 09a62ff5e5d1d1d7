// A small shop with what real sites have, as an origin to put the gateway in front of. Its pages are
// the same in every run; it counts what it is asked, so that tests can say "exactly once".
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Exchange, sendMessage } from './exchange.ts';
import { findRoute } from './routes.ts';
import { attachWebSocket } from './web-socket.ts';

export interface DemoSiteOptions {
  /** 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
}

export interface RequestCounts {
  readonly total: number;
  /** Requests by path, without the query. */
  readonly byPath: ReadonlyMap<string, number>;
  /** Requests by the target as it was sent, query included. */
  readonly byTarget: ReadonlyMap<string, number>;
}

export interface DemoSite {
  readonly url: string;
  readonly port: number;
  readonly requests: RequestCounts;
  /** Ends at once, open streams and sockets included. */
  readonly close: () => Promise<void>;
}

/** Starts the site; it listens when this resolves and rejects when the port is taken. */
export async function startDemoSite(options: DemoSiteOptions = {}): Promise<DemoSite> {
  const { port = 0, host = '127.0.0.1' } = options;
  const byPath = new Map<string, number>();
  const byTarget = new Map<string, number>();
  const server = createServer((request, response) => {
    const exchange = openExchange(request, response);
    increment(byPath, exchange.url.pathname);
    increment(byTarget, request.url ?? '');
    void answer(exchange);
  });
  const endSockets = attachWebSocket(server);
  server.listen(port, host);
  await once(server, 'listening');
  const actual = (server.address() as AddressInfo).port;
  return {
    url: `http://${host}:${actual}`,
    port: actual,
    requests: {
      get total() {
        return [...byPath.values()].reduce((sum, count) => sum + count, 0);
      },
      byPath,
      byTarget,
    },
    close: async () => {
      endSockets();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(exchange: Exchange): Promise<void> {
  const route = findRoute(exchange.url.pathname);
  if (route === undefined) {
    sendMessage(exchange, 404, 'Nothing here');
    return;
  }
  if (!route.methods.includes(exchange.request.method ?? '')) {
    sendMessage(exchange, 405, 'Not like this', { allow: route.methods.join(', ') });
    return;
  }
  try {
    await route.handle(exchange);
  } catch (error) {
    // A client that left in the middle of its upload is no failure of the site.
    if (exchange.request.destroyed) return;
    exchange.response.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

/** The public address comes from what the client, or a proxy before us, says it asked for. */
function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  const host = request.headers.host ?? 'localhost';
  const base = URL.canParse(`${scheme}://${host}`) ? `${scheme}://${host}` : 'http://localhost';
  const target = request.url ?? '/';
  const path = target.startsWith('/') ? target : '/';
  return { request, response, url: new URL(`${base}${path}`) };
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
