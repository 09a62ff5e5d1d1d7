// The admin listener: health, metrics and what changes the cache. Its own socket, loopback unless a
// token is set, JSON, and never a change by GET. Nothing of it exists on the public listener.

import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import { GOOGLEBOT_USER_AGENT } from '../../core/decision/explain-decision.ts';
import { fieldsOf } from '../../core/records.ts';
import type { PurgeRequest } from '../../pipeline/purge/purge-request.ts';
import { addRefreshRoutes, type RefreshActions } from './add-refresh-routes.ts';
import { type AdminError, adminError } from './admin-error.ts';
import { isAllowed } from './check-token.ts';
import { parsePurgeBody } from './parse-purge-body.ts';

export interface ReadyReport {
  readonly isReady: boolean;
  /** Part → `ok`, or why not. */
  readonly checks: Readonly<Record<string, string>>;
  /** Whether the files that were last read are in service; published JSON. */
  readonly config: {
    readonly current: boolean;
    /** Of those that were refused. */
    readonly errors: number;
    /** When what is in service was read, ISO 8601. */
    readonly read_at: string;
  };
}

/** A finished piece of admin work: status and JSON body. */
export interface AdminResult {
  readonly status: number;
  readonly body: unknown;
}

/** A client and what it asks for. */
export interface ExplainQuestion {
  readonly url: string;
  /** Upper-case. */
  readonly method: string;
  readonly userAgent: string;
  /** null: not given, so that no crawler can be verified. */
  readonly address: string | null;
}

export interface AdminDeps extends RefreshActions {
  /** null: no token, which only a loopback listener may have. */
  readonly token: () => string | null;
  readonly ready: () => Promise<ReadyReport>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly explain: (question: ExplainQuestion) => Promise<AdminResult>;
  readonly purge: (request: PurgeRequest) => Promise<AdminResult>;
  readonly reload: () => Promise<AdminResult>;
  readonly restart: () => Promise<AdminResult>;
  /** For defects: the log gets everything, the client the request id. */
  readonly onError: (error: unknown) => void;
}

const BODY_BYTES_MAX = 65_536;
/** For a whole request, its body included. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Node looks every half minute by itself. */
const CHECKING_INTERVAL_MS = 1_000;
const METHODS = ['GET', 'HEAD', 'POST'] as const;
const EXPLAIN_PARAMETERS: ReadonlySet<string> = new Set(['url', 'method', 'user_agent', 'address']);

/** Builds the admin application; the caller listens. */
export function createAdminApp(deps: AdminDeps): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    logger: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node takes the longer of the two for the whole request.
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    // Load balancers and container engines ask without a token; health says nothing secret.
    if (request.url === '/health' || request.url === '/ready') return;
    if (!isAllowed(request.headers, deps.token())) {
      await reply
        .code(401)
        .header('www-authenticate', 'Bearer')
        .send(adminError('unauthorized', 'send Authorization: Bearer <admin.token>'));
    }
  });
  app.addHook('onSend', async (_request, reply) => {
    // An answer that ends during a stop: kept open for more, its connection would hold the stop up.
    if (!app.server.listening) reply.header('connection', 'close');
  });
  app.setErrorHandler(async (error: FastifyError, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) deps.onError(error);
    await reply.code(status).send(describeRefusal(status, error.message));
  });
  app.setNotFoundHandler(async (request, reply) => {
    const allowed = METHODS.filter((method) => app.hasRoute({ method, url: pathOf(request) }));
    if (allowed.length > 0) {
      const methods = allowed.join(', ');
      await reply
        .code(405)
        .header('allow', methods)
        .send(adminError('method_not_allowed', `this address takes ${methods}`));
      return;
    }
    await reply.code(404).send(adminError('not_found', 'there is no such address'));
  });
  addReadRoutes(app, deps);
  addChangeRoutes(app, deps);
  addRefreshRoutes(app, deps);
  return app;
}

function addReadRoutes(app: FastifyInstance, deps: AdminDeps): void {
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/ready', async (_request, reply) => {
    const { isReady, checks, config } = await deps.ready();
    return await reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'not ready', checks, config });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await deps.metrics();
    return await reply.header('content-type', contentType).send(text);
  });
  app.get('/explain', async (request, reply) => {
    const url = queryText(request, 'url');
    const stray = unknownParameter(request);
    if (stray !== null) {
      // An unencoded `&` in the URL would cut it here and explain another page.
      const error = `unknown parameter "${stray}": encode the URL (& as %26, ? as %3F)`;
      return await reply.code(400).send(adminError('invalid_request', error));
    }
    if (url === '') {
      return await reply.code(400).send(adminError('invalid_request', 'say which: /explain?url=…'));
    }
    const { status, body } = await deps.explain({
      url,
      method: queryText(request, 'method').toUpperCase() || 'GET',
      userAgent: hasParameter(request, 'user_agent')
        ? queryText(request, 'user_agent')
        : GOOGLEBOT_USER_AGENT,
      address: queryText(request, 'address') || null,
    });
    return await reply.code(status).send(body);
  });
}

function addChangeRoutes(app: FastifyInstance, deps: AdminDeps): void {
  app.post('/purge', async (request, reply) => {
    const parsed = parsePurgeBody(request.body);
    if (!parsed.ok) {
      return await reply.code(400).send(adminError('invalid_request', parsed.error));
    }
    const { status, body } = await deps.purge(parsed.value);
    return await reply.code(status).send(body);
  });
  app.post('/reload', async (_request, reply) => {
    const { status, body } = await deps.reload();
    return await reply.code(status).send(body);
  });
  app.post('/restart', async (_request, reply) => {
    const { status, body } = await deps.restart();
    return await reply.code(status).send(body);
  });
}

const KINDS: Readonly<Record<number, string>> = {
  413: 'too_large',
  415: 'no_json',
};

/** What Fastify refuses, and what is a defect. */
function describeRefusal(status: number, message: string): AdminError {
  if (status >= 500) return adminError('internal', 'internal error; the log says more');
  const kind = KINDS[status] ?? 'invalid_request';
  // What curl says of `-d` alone.
  const advice = 'send JSON, and say so: content-type: application/json';
  return adminError(kind, status === 415 ? advice : message);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

function parametersOf({ query }: FastifyRequest): readonly string[] {
  return Object.keys(fieldsOf(query));
}

function hasParameter(request: FastifyRequest, name: string): boolean {
  return parametersOf(request).includes(name);
}

function unknownParameter(request: FastifyRequest): string | null {
  return parametersOf(request).find((name) => !EXPLAIN_PARAMETERS.has(name)) ?? null;
}

function queryText(request: FastifyRequest, name: string): string {
  const value = fieldsOf(request.query)[name];
  return typeof value === 'string' ? value : '';
}
