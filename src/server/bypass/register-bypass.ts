// Bypass as a Fastify plugin: @fastify/http-proxy gives the route and the hook point, and all that
// it or reply-from would do to target, headers, body, retries and errors is replaced by our own
// transport, because they parse and rebuild what has to pass through untouched.
//
// What reply-from calls the upstream request is our `send`: it finds the exchange under a symbol in
// the headers object and answers with the origin's message as the "body" of a plain 200, whose real
// status and headers the relay reads from the message itself.

import { IncomingMessage, METHODS } from 'node:http';
import httpProxy, { type FastifyHttpProxyOptions } from '@fastify/http-proxy';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preHandlerAsyncHookHandler,
} from 'fastify';
import { toPairs } from '../../core/http/to-pairs.ts';
import { answerError } from './answer-error.ts';
import { type BypassError, cutBehindHead, toBypassError } from './bypass-error.ts';
import type { Exchange } from './exchange.ts';
import type { BypassDeps, BypassOutcome, BypassTarget } from './ports.ts';
import { relayResponse } from './relay-response.ts';
import { sendUpstream } from './send-upstream.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the pipeline for a request that is to be passed on. */
    bypassTarget: BypassTarget | null;
  }
}

export interface BypassOptions extends BypassDeps {
  /** The pipeline: answers, or sets `request.bypassTarget`. */
  readonly preHandler: preHandlerAsyncHookHandler;
  /** Told when the answer's head or the error is known; again where the answer is cut behind it. */
  readonly onOutcome: (request: FastifyRequest, outcome: BypassOutcome) => void;
}

/**
 * Options the Fastify instance of the public listener needs: one route takes every request, because
 * find-my-way refuses paths that we pass on (`/a%`); `request.originalUrl` is the raw target. The
 * door answers client errors.
 */
export const GATEWAY_FASTIFY_OPTIONS = {
  rewriteUrl: (): string => '/',
  clientErrorHandler: (): void => undefined,
  exposeHeadRoutes: false,
} as const;

const NEVER_ROUTED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'PURGE']);
const EXCHANGE = Symbol('exchange');

/** The shape in which reply-from passes a request on. */
interface SendOptions {
  readonly headers: { readonly [EXCHANGE]?: Exchange };
}

interface SendResult {
  readonly statusCode: number;
  readonly headers: Record<string, never>;
  readonly body: IncomingMessage;
}

type UndiciRequest = Extract<FastifyHttpProxyOptions['undici'], { request: unknown }>['request'];
type SendCallback = (error: Error | null, result?: SendResult) => void;

/** Adds the one route of the public listener. Fastify leaves all bodies alone from then on. */
export async function registerBypass(app: FastifyInstance, options: BypassOptions): Promise<void> {
  const methods = METHODS.filter((method) => !NEVER_ROUTED.has(method));
  // "No body" means that Fastify neither reads nor judges it: no parser, no 415, no limit.
  for (const method of methods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  app.decorateRequest('bypassTarget', null);
  await app.register(async (scope) => {
    scope.addHook('preHandler', options.preHandler);
    await scope.register(httpProxy, {
      upstream: '',
      proxyPayloads: false,
      routes: ['/'],
      httpMethods: methods,
      disableRequestLogging: true,
      preRewrite: () => '/',
      undici: { request: sendWith(options) },
      replyOptions: { getUpstream: (request) => targetOf(request).originUrl },
      handler: (request, reply, destination, replyOptions) => {
        const exchange = exchangeOf(request, reply);
        return reply.from(destination, {
          ...replyOptions,
          rewriteHeaders: () => ({}),
          rewriteRequestHeaders: () => ({ [EXCHANGE]: exchange }),
          retryDelay: () => null,
          onResponse: (_request, _reply, { stream }) => {
            reply.hijack();
            relay(exchange, request, stream, options);
          },
          onError: (_reply, { error }) => {
            reply.hijack();
            fail(exchange, request, error, options);
          },
        });
      },
    });
  });
}

/** Our transport in place of undici's `request`; reply-from uses only its callback form. */
function sendWith(deps: BypassDeps): UndiciRequest {
  const send = ({ headers }: SendOptions, callback: SendCallback): void => {
    const exchange = headers[EXCHANGE];
    if (exchange === undefined) throw new Error('reply-from lost the exchange');
    sendAndTell(exchange, deps).then(
      (body) => callback(null, { statusCode: 200, headers: {}, body }),
      (error: Error) => callback(error),
    );
  };
  return send as unknown as UndiciRequest;
}

/** The answer waits for who has to know of it first, and may be cut off meanwhile. */
async function sendAndTell(exchange: Exchange, deps: BypassDeps): Promise<IncomingMessage> {
  const answer = await sendUpstream(exchange, deps);
  const { onAnswer } = exchange.target;
  if (onAnswer === undefined) return answer;
  answer.on('error', () => undefined);
  await onAnswer({ status: answer.statusCode ?? 0, headers: toPairs(answer.rawHeaders) });
  if (answer.destroyed && !answer.readableEnded) {
    throw cutBehindHead();
  }
  return answer;
}

function targetOf({ bypassTarget }: Pick<FastifyRequest, 'bypassTarget'>): BypassTarget {
  if (bypassTarget === null) throw new Error('the pipeline neither answered nor chose a target');
  return bypassTarget;
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply): Exchange {
  const target = targetOf(request);
  return {
    request: request.raw,
    response: reply.raw,
    requestTarget: target.inner?.target ?? request.originalUrl,
    target,
  };
}

function relay(
  exchange: Exchange,
  request: FastifyRequest,
  answer: unknown,
  options: BypassOptions,
): void {
  if (!(answer instanceof IncomingMessage)) throw new Error('not an answer of an origin');
  const status = answer.statusCode ?? 0;
  const { originUrl } = exchange.target;
  const tell = (error: BypassError | null): void => {
    const [type, detail] = [error?.type ?? null, error?.message ?? null];
    options.onOutcome(request, { originUrl, status, error: type, detail });
  };
  tell(null);
  const { pseudonym } = options;
  relayResponse(exchange, answer, { pseudonym, onCut: () => tell(cutBehindHead()) });
}

function fail(
  exchange: Exchange,
  request: FastifyRequest,
  error: Error,
  options: BypassOptions,
): void {
  const cause = toBypassError(error.cause instanceof Error ? error.cause : error);
  const { type, status, message } = cause;
  const { originUrl } = exchange.target;
  options.onOutcome(request, { originUrl, status, error: type, detail: message });
  answerError(exchange, cause);
}
