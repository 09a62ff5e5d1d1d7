// The stage of the scenarios: an origin on a bare socket that records the very bytes it got, a
// render service, and a whole gateway between them and the clients.
import { onTestFinished } from 'vitest';
import { createTestClock, type TestClock } from '../contract/test-clock.ts';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { hasAnswers, sendRaw } from '../helpers/raw-client.ts';
import {
  type Answer,
  type RawOrigin,
  type RawOriginOptions,
  type RawRequest,
  startRawOrigin,
} from '../helpers/raw-origin.ts';
import { startRenderService, type TestRenderService } from '../helpers/render-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';

export const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
export const MOBILE_BOT = `Mozilla/5.0 (Linux; Android 10; Mobile) Chrome/142.0.0.0 ${BOT.slice(12)}`;
export const HUMAN = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0.0.0 Safari/537.36';

export interface StageOptions {
  readonly origin?: Answer | RawOriginOptions;
  /** Lines of edge-gateway.yaml; the page source is chosen by `engine`. */
  readonly gateway?: string;
  /** `service` also starts a render service. Default: `origin`. */
  readonly engine?: 'origin' | 'service';
  /** Lines of the `render` block, such as `cache: {ttl: 1h}`. */
  readonly render?: string;
  /** Keys of the host `site.test`, indented by nothing. */
  readonly host?: string;
  readonly domain?: string;
  /** The clock of stores and policies stands still until it is moved. */
  readonly hasTestClock?: boolean;
}

export interface Stage {
  readonly gateway: TestGateway;
  readonly origin: RawOrigin;
  readonly renderer: TestRenderService;
  readonly clock: TestClock;
  /** A crawler's GET, unless told otherwise. */
  readonly ask: (target: string, question?: Question) => Promise<Reply>;
}

/** Builds a stage that ends with the test. */
export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const stage = await openStage(options);
  onTestFinished(stage.close);
  return stage;
}

/** Builds a stage for a whole suite, which closes it. */
export async function openStage(
  options: StageOptions = {},
): Promise<Stage & { readonly close: () => Promise<void> }> {
  const script = options.origin ?? (() => page('a page'));
  const origin = await startRawOrigin(typeof script === 'function' ? { answer: script } : script);
  const renderer = await startRenderService();
  const clock = createTestClock();
  const gateway = await startTestGateway({
    gateway: gatewayText(options, renderer),
    hosts: hostsText(origin.url, options),
    ...(options.hasTestClock === true ? { clock } : {}),
  });
  const host = options.domain ?? 'site.test';
  return {
    gateway,
    origin,
    renderer,
    clock,
    ask: (target, question) => ask(gateway.port, target, { host, ...question }),
    close: async () => {
      await gateway.close();
      await renderer.close();
      await origin.close();
    },
  };
}

/** An origin that ends with the test. */
export async function startOrigin(script: Answer | RawOriginOptions): Promise<RawOrigin> {
  const origin = await startRawOrigin(typeof script === 'function' ? { answer: script } : script);
  onTestFinished(origin.close);
  return origin;
}

function gatewayText(options: StageOptions, renderer: TestRenderService): string {
  const engine = options.engine ?? 'origin';
  const service =
    engine === 'service'
      ? `\n  service: {urls: ["${renderer.url}"], token: ${renderer.token}}`
      : '';
  const render = indent(options.render ?? '', 2);
  return `render:\n  engine: ${engine}${service}\n${render}${options.gateway ?? ''}`;
}

export function hostsText(originUrl: string, options: StageOptions = {}): string {
  const lines = `domain: ${options.domain ?? 'site.test'}\norigin: "${originUrl}"\n`;
  return `hosts:\n  - id: 1\n${indent(lines + (options.host ?? ''), 4)}`;
}

function indent(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by)).replace(/([^\n])$/, '$1\n');
}

export interface Question {
  readonly method?: string;
  readonly host?: string;
  readonly userAgent?: string;
  /** Header lines; they come last. */
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly version?: '1.0' | '1.1';
  readonly timeoutMs?: number;
  /** Told when the whole request has been written. */
  readonly onSent?: () => void;
}

export interface Reply {
  readonly status: number;
  /** The first value of a header, or null. */
  readonly header: (name: string) => string | null;
  readonly headers: (name: string) => readonly string[];
  /** latin1; chunks taken out. */
  readonly body: string;
  readonly head: string;
  readonly end: 'open' | 'closed' | 'reset';
  readonly durationMs: number;
}

/** One request on a connection of its own. */
export async function ask(port: number, target: string, question: Question = {}): Promise<Reply> {
  const { method = 'GET', host = 'site.test', version = '1.1', body = '' } = question;
  const lines = [
    `${method} ${target} HTTP/${version}`,
    `Host: ${host}`,
    `User-Agent: ${question.userAgent ?? BOT}`,
    'Connection: close',
    ...(question.headers ?? []),
  ];
  const startedAt = performance.now();
  const { text, end } = await sendRaw(port, `${lines.join('\r\n')}\r\n\r\n${body}`, {
    timeoutMs: question.timeoutMs ?? 15_000,
    onConnected: () => question.onSent?.(),
    ...(method === 'HEAD' ? {} : { until: (seen) => hasAnswers(1)(seen) && isFramed(seen) }),
  });
  return { ...parseReply(text), end, durationMs: performance.now() - startedAt };
}

function isFramed(text: string): boolean {
  return /\r\n(content-length|transfer-encoding):/i.test(text);
}

function parseReply(text: string): Omit<Reply, 'end' | 'durationMs'> {
  const headEnd = text.indexOf('\r\n\r\n');
  const head = headEnd === -1 ? text : text.slice(0, headEnd);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const headers = (name: string): readonly string[] =>
    fields.filter(([field]) => field === name.toLowerCase()).map(([, value]) => value);
  const raw = headEnd === -1 ? '' : text.slice(headEnd + 4);
  const isChunked = headers('transfer-encoding').includes('chunked');
  return {
    status: Number(statusLine.split(' ')[1] ?? 0),
    header: (name) => headers(name)[0] ?? null,
    headers,
    head,
    body: isChunked ? joinChunks(raw) : raw,
  };
}

function joinChunks(raw: string): string {
  let body = '';
  let position = 0;
  for (;;) {
    const lineEnd = raw.indexOf('\r\n', position);
    const size = Number.parseInt(raw.slice(position, lineEnd), 16);
    if (lineEnd === -1 || Number.isNaN(size) || size === 0) return body;
    body += raw.slice(lineEnd + 2, lineEnd + 2 + size);
    position = lineEnd + 2 + size + 2;
  }
}

/** A whole HTML answer of an origin, with more header lines where given. */
export function page(html: string, ...lines: readonly string[]): string {
  return answer(200, html, 'Content-Type: text/html; charset=utf-8', ...lines);
}

/** A whole answer of an origin; `body` is bytes as latin1. */
export function answer(status: number, body: string, ...lines: readonly string[]): string {
  const length = `Content-Length: ${body.length}`;
  return [`HTTP/1.1 ${status} Scripted`, length, ...lines, '', body].join('\r\n');
}

/** What the origin was asked for: `GET /a?b=1`. */
export function askedFor(origin: RawOrigin): readonly string[] {
  return origin.requests.map(({ method, target }: RawRequest) => `${method} ${target}`);
}

/** Codings follow a page a moment after it was stored. */
export async function waitForCodings({ ask: askSite }: Stage, target: string): Promise<void> {
  await waitUntil('codings of the page', async () => {
    const reply = await askSite(target, { headers: ['Accept-Encoding: br'] });
    return reply.header('Content-Encoding') === 'br';
  });
}

/** The key in `Cache-Status`, or null. */
export function keyOf(reply: Reply): string | null {
  return /; key="([^"]+)"/.exec(reply.header('Cache-Status') ?? '')?.[1] ?? null;
}
