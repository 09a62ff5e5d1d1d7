// A render service in a real Chromium for tests, and what is needed to ask it: two tabs, because the
// smallest supported machine has two cores.
import { describe, test } from 'vitest';
import {
  decodeRenderAnswer,
  RENDER_MARK,
  type RenderHead,
} from '../../src/core/http/render-answer.ts';
import type { RenderRequest } from '../../src/core/http/render-request.ts';
import { findChromium } from '../../src/renderer/browser/find-chromium.ts';
import type { RenderServiceOptions } from '../../src/renderer/options.ts';
import {
  type RenderService,
  startRenderService,
} from '../../src/renderer/server/start-render-service.ts';

export interface Rendered {
  readonly head: RenderHead;
  readonly html: string;
}

export interface TestRenderer {
  readonly service: RenderService;
  readonly render: (url: string, changes?: Partial<RenderRequest>) => Promise<Rendered>;
  /** The raw answer of `POST /render`. */
  readonly post: (body: unknown, init?: RequestInit) => Promise<Response>;
}

/** The host of the zoo in all tests. */
export const ZOO_HOST = 'zoo.test';

/**
 * Describes suites that need Chromium. Without it they fail in CI; elsewhere one test stands in for
 * them and says plainly that they could not run.
 */
export function describeWithChromium(name: string, body: () => void): void {
  const found = findChromium(null);
  describe(`${name} (chromium)`, () => {
    if (found.ok) return body();
    const reason = `could not run: ${found.error}`;
    test(`${reason}`, ({ task }) => {
      const where = `${task.suite?.name}: ${reason}`;
      if (process.env['CI']) throw new Error(where);
      console.warn(where);
    });
  });
}

/** Starts a service that renders `zoo.test` from an origin. */
export async function startTestRenderer(
  originUrl: string,
  options: Partial<RenderServiceOptions> = {},
): Promise<TestRenderer> {
  const host = {
    domain: ZOO_HOST,
    origins: [{ url: originUrl }],
    originHostHeader: null,
    scheme: 'https',
  } as const;
  const service = await startRenderService({
    listen: { host: '127.0.0.1', port: 0 },
    findHost: (name) => (name === ZOO_HOST ? host : null),
    ...options,
    pool: { tabs: 2, ...options.pool },
  });
  const post = (body: unknown, init: RequestInit = {}): Promise<Response> =>
    fetch(`${service.address}/render`, { method: 'POST', body: JSON.stringify(body), ...init });
  return {
    service,
    post,
    render: async (url, changes = {}) => readAnswer(await post(buildRequest(url, changes))),
  };
}

/** A question with everything at an ordinary value. */
export function buildRequest(url: string, changes: Partial<RenderRequest> = {}): RenderRequest {
  return {
    url,
    user_agent: 'ZooBot/1.0',
    width: 1280,
    height: 900,
    locale: 'en-US',
    timeout_ms: 15_000,
    soft_timeout_ms: 10_000,
    wait_for: 'networkAlmostIdle',
    selector: null,
    additional_wait_ms: 0,
    long_poll_after_ms: 10_000,
    blocked_resource_types: [],
    blocked_patterns: [],
    strip_scripts: true,
    headers: [],
    request_id: 'test',
    ...changes,
  };
}

/** Reads a marked answer; anything else is an error. */
export async function readAnswer(response: Response): Promise<Rendered> {
  const isMarked = response.headers.get(RENDER_MARK.name) === RENDER_MARK.value;
  if (!isMarked) throw new Error(`${response.status}: ${await response.text()}`);
  const decoded = decodeRenderAnswer(new Uint8Array(await response.arrayBuffer()));
  if (!decoded.ok) throw new Error(`an answer that breaks the contract: ${decoded.error}`);
  const { head, html } = decoded.value;
  return { head, html: new TextDecoder('utf-8', { fatal: true }).decode(html) };
}
