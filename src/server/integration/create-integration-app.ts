// The pull listener: a CDN worker, nginx or a prerender middleware asks for one page by its URL and
// gets what the public listener would have answered. Its own socket behind the same door; a key
// for each host; health and readiness for whoever balances over several gateways.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countRenderHops } from '../../core/http/render-loop.ts';
import type { Answer } from '../../pipeline/state.ts';
import { buildApp, type Visits } from '../gateway/build-app.ts';
import type { GatewayApp, GatewayDeps, ListenerFactory } from '../gateway/gateway-deps.ts';
import { receiveRequest } from '../gateway/receive-request.ts';
import { serveVisit } from '../gateway/serve-visit.ts';
import { finishVisit, openVisit, type Visit } from '../gateway/visit.ts';
import { writeAnswer } from '../gateway/write-answer.ts';
import { checkAccess } from './check-access.ts';
import { answerHealth, dressForPrerender, type PullRefusal, refusePull } from './pull-answers.ts';
import { toInnerRequest, toPageVisitor } from './pull-visitor.ts';
import { type PullContract, readKey, readPull } from './read-pull.ts';

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
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && pull.kind === 'health') {
    answer(call, answerHealth(true, 'ok'));
    return;
  }
  if (isRead && pull.kind === 'ready') {
    const isReady = await deps.isReady();
    answer(call, answerHealth(isReady, isReady ? 'ready' : 'not ready'));
    return;
  }
  const refuse = (refusal: PullRefusal, contract: PullContract): void =>
    refuseVisit(call, { refusal, contract }, deps);
  if (pull.kind !== 'page') {
    refuse(pull.kind === 'unknown' ? 'not_found' : 'method', 'render');
    return;
  }
  const { contract, page } = pull;
  if (!isRead) {
    refuse('method', contract);
    return;
  }
  if (page === null) {
    refuse('url', contract);
    return;
  }
  const snapshot = deps.snapshot();
  const raw = request.raw.rawHeaders;
  const host = snapshot.site.decider.findHost(page.hostName);
  const access = checkAccess(host, readKey(raw), deps.isLocal);
  if (access !== 'granted') {
    refuse(access, contract);
    return;
  }
  const { isTrustedPeer } = snapshot;
  const asker = receiveRequest(request.raw, request.originalUrl, isTrustedPeer);
  if (countRenderHops(asker.client.headers) > 0) {
    refuse('loop', contract);
    return;
  }
  const isTrusted = isTrustedPeer(request.raw.socket.remoteAddress ?? '');
  const visitor = toPageVisitor(asker, page, { raw, isTrustedPeer: isTrusted });
  const visit = openVisit(request.raw, visitor, toInnerRequest(page, raw));
  watch(call, visit, deps);
  const dress = contract === 'prerender' ? dressForPrerender : undefined;
  await serveVisit({ ...call, visit, snapshot }, deps, dress);
}

/** What is refused is logged like everything else. */
function refuseVisit(
  call: Call,
  { refusal, contract }: { readonly refusal: PullRefusal; readonly contract: PullContract },
  deps: IntegrationDeps,
): void {
  const { raw, originalUrl } = call.request;
  const visitor = receiveRequest(raw, originalUrl, deps.snapshot().isTrustedPeer);
  watch(call, openVisit(raw, visitor, null), deps);
  answer(call, refusePull(refusal, contract, visitor.client.requestId));
}

function watch({ request, reply, visits }: Call, visit: Visit, deps: IntegrationDeps): void {
  visits.set(request.raw, visit);
  reply.raw.once('close', () => deps.onFinished(finishVisit(visit, reply.raw)));
}

function answer({ request, reply }: Call, what: Answer): void {
  reply.hijack();
  writeAnswer(request.raw, reply.raw, what);
}
