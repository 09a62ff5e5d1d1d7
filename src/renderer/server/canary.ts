// The proof that the service can render: a page of our own, made by its script, through the whole
// way from queue to captured text. Made when nothing else was rendered lately.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RenderAnswer } from '../../core/http/render-answer.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import type { RenderHost } from '../options.ts';

export interface CanaryOptions {
  readonly intervalMs: number;
  /** Whether something was rendered within the interval, so that no canary is needed. */
  readonly isProven: () => boolean;
  /** Renders the canary like any page; throws when no render could begin. */
  readonly render: (request: RenderRequest, host: RenderHost) => Promise<RenderAnswer>;
  readonly onDead: () => void;
}

export interface Canary {
  /** Resolves when one was well for the first time. */
  readonly proven: Promise<void>;
  /** Whether the last one was well. */
  readonly isAlive: () => boolean;
  readonly close: () => Promise<void>;
}

/** A name that no DNS can ever resolve (RFC 6761 §6.4). */
const NAME = 'canary.edge-gateway.invalid';
const TIMEOUT_MS = 10_000;
const PAGE = `<!doctype html><title>canary</title><p id=p></p>
<script>p.textContent = ['alive', 'and', 'well'].join(' ');</script>`;
const REQUEST: RenderRequest = {
  url: `http://${NAME}/`,
  user_agent: 'edge-gateway-canary',
  width: 800,
  height: 600,
  locale: null,
  timeout_ms: TIMEOUT_MS,
  soft_timeout_ms: TIMEOUT_MS,
  wait_for: 'DOMContentLoaded',
  selector: null,
  additional_wait_ms: 0,
  long_poll_after_ms: TIMEOUT_MS,
  blocked_resource_types: [],
  blocked_patterns: [],
  strip_scripts: true,
  headers: [],
  request_id: 'canary',
};

/** Starts the canary and its own origin; the first one flies at once. */
export async function startCanary(options: CanaryOptions): Promise<Canary> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host: RenderHost = {
    domain: NAME,
    origins: [{ url: `http://127.0.0.1:${port}` }],
    originHostHeader: null,
    scheme: 'http',
  };
  let isAlive = false;
  let prove = (): void => undefined;
  const proven = new Promise<void>((resolve) => {
    prove = resolve;
  });
  const fly = async (): Promise<void> => {
    if (isAlive && options.isProven()) return;
    try {
      const { html } = await options.render(REQUEST, host);
      isAlive = Buffer.from(html).includes('alive and well');
      if (isAlive) prove();
      else options.onDead();
    } catch {
      // A full queue or a missing browser says nothing about the canary; both show elsewhere.
    }
  };
  let flying = fly();
  const timer = setInterval(() => {
    flying = flying.then(fly);
  }, options.intervalMs);
  timer.unref();
  return {
    proven,
    isAlive: () => isAlive,
    close: async () => {
      clearInterval(timer);
      await flying;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
