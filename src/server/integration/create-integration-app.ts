// The pull listener: a CDN worker, nginx or a prerender middleware asks for one page by its URL and
// gets what the public listener would have answered. Its own socket behind the same door; a key
// for each host; health and readiness for whoever balances over several gateways.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fieldValues } from '../../core/http/hop-headers.ts';
import { RENDER_HOP_HEADER } from '../../core/http/render-loop.ts';
import type { Answer } from '../../pipeline/state.ts';
import { buildApp, type Visits } from '../gateway/build-app.ts';
import type {
  GatewayApp,
  GatewayDeps,
  ListenerFactory,
  Snapshot,
} from '../gateway/gateway-deps.ts';
import { receiveRequest } from '../gateway/receive-request.ts';
import { serveVisit } from '../gateway/serve-visit.ts';
import { finishVisit, openVisit, type Visit } from '../gateway/visit.ts';
import { writeAnswer } from '../gateway/write-answer.ts';
import type { AskedPage } from './asked-page.ts';
import { checkAccess } from './check-access.ts';
import { answerHealth, dressForPrerender, type PullRefusal, refusePull } from './pull-answers.ts';
import { toInnerRequest, toPageVisitor } from './pull-visitor.ts';
import { type Pull, readKey, readPull } from './read-pull.ts';

export interface IntegrationDeps extends GatewayDeps {
  /** Whether only this machine can reach the listener. */
  readonly isLocal: boolean;
  readonly isReady: () => Promise<boolean>;
}

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly visits: Visits;
}

/** An upgrade asks for no page. */
const UPGRADE_STATUS = 405;

/** Builds the application of the listener; the caller listens. */
export async function createIntegrationApp(
  deps: IntegrationDeps,
  createListener: ListenerFactory,
): Promise<GatewayApp> {
  return await buildApp(
    deps,
    {
      handle: async (request, reply, visits) => await handle({ request, reply, visits }, deps),
      decideUpgrade: () => ({ status: UPGRADE_STATUS }),
    },
    createListener,
  );
}

async function handle(call: Call, deps: IntegrationDeps): Promise<void> {
  const { request } = call;
  const pull = readPull(request.originalUrl);
  if (isRead(request) && (pull.kind === 'health' || pull.kind === 'ready')) {
    const isWell = pull.kind === 'health' || (await deps.isReady());
    answer(call, answerHealth(pull.kind, isWell));
    return;
  }
  const contract = pull.kind === 'page' ? pull.contract : 'render';
  const snapshot = deps.snapshot();
  const page = admit(request, pull, { snapshot, isLocal: deps.isLocal });
  const { rawHeaders: raw } = request.raw;
  const asker = receiveRequest(request.raw, request.originalUrl, snapshot.isTrustedPeer);
  if (typeof page === 'string') {
    // What is refused is logged like everything else.
    watch(call, openVisit(request.raw, asker, null), deps);
    answer(call, refusePull(page, contract, asker.client.requestId));
    return;
  }
  const isTrustedPeer = snapshot.isTrustedPeer(request.raw.socket.remoteAddress ?? '');
  const visitor = toPageVisitor(asker, page, { raw, isTrustedPeer });
  const visit = openVisit(request.raw, visitor, toInnerRequest(page, raw));
  watch(call, visit, deps);
  const dress = contract === 'prerender' ? dressForPrerender : undefined;
  await serveVisit({ ...call, visit, snapshot }, deps, dress);
}

/** The page that may be asked for, or why it may not. */
function admit(
  request: FastifyRequest,
  pull: Pull,
  { snapshot, isLocal }: { readonly snapshot: Snapshot; readonly isLocal: boolean },
): AskedPage | PullRefusal {
  if (pull.kind === 'unknown') return 'not_found';
  if (pull.kind !== 'page' || !isRead(request)) return 'method';
  const { page } = pull;
  if (page === null) return 'url';
  const { rawHeaders } = request.raw;
  const host = snapshot.site.decider.findHost(page.hostName);
  const access = checkAccess(host, readKey(rawHeaders), isLocal);
  if (access !== 'granted') return access;
  const isOfRender = fieldValues(rawHeaders, RENDER_HOP_HEADER).length > 0;
  return isOfRender ? 'loop' : page;
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function watch({ request, reply, visits }: Call, visit: Visit, deps: IntegrationDeps): void {
  visits.set(request.raw, visit);
  reply.raw.once('close', () => deps.onFinished(finishVisit(visit, reply.raw)));
}

function answer({ request, reply }: Call, what: Answer): void {
  reply.hijack();
  writeAnswer(request.raw, reply.raw, what);
}
