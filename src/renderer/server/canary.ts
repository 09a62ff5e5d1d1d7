// The proof that the service can render: a page of our own, made by its script, through the whole way
// from queue to captured text. Made when nothing else was rendered lately; a failed one costs the
// browser its place.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RenderAnswer } from '../../core/http/render-answer.ts';
import type { RenderRequest } from '../../core/http/render-request.ts';
import type { RenderHost } from '../options.ts';

/** A name that no DNS can ever resolve (RFC 6761 §6.4). */
const CANARY_NAME = 'canary.edge-gateway.invalid';
const PAGE = `<!doctype html><title>canary</title><p id=p></p>
<script>p.textContent = ['alive', 'and', 'well'].join(' ');</script>`;

export interface Canary {
  readonly host: RenderHost;
  readonly request: RenderRequest;
  /** Whether an answer is the canary's, as its script makes it. */
  readonly isAlive: (answer: RenderAnswer) => boolean;
  readonly close: () => Promise<void>;
}

/** Starts the canary's own origin. */
export async function createCanary(timeoutMs: number): Promise<Canary> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    host: {
      domain: CANARY_NAME,
      origins: [{ url: `http://127.0.0.1:${port}` }],
      originHostHeader: null,
      scheme: 'http',
    },
    request: {
      url: `http://${CANARY_NAME}/`,
      user_agent: 'edge-gateway-canary',
      width: 800,
      height: 600,
      locale: null,
      timeout_ms: timeoutMs,
      soft_timeout_ms: timeoutMs,
      wait_for: 'DOMContentLoaded',
      selector: null,
      additional_wait_ms: 0,
      blocked_resource_types: [],
      blocked_patterns: [],
      strip_scripts: true,
      headers: [],
      request_id: 'canary',
    },
    isAlive: ({ html }) => Buffer.from(html).includes('alive and well'),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
