// The public listener: the door, then one Fastify route whose hook is the pipeline. What the
// pipeline answers is written here; what it passes on goes through server/bypass.
import type { IncomingMessage, RequestListener } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify';
import { isLoop, viaMember } from '../../core/http/forwarded.ts';
import { fieldValues } from '../../core/http/hop-headers.ts';
import { statusText } from '../../core/http/status-text.ts';
import type { Origin } from '../../core/policy/policy.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { runPhases, runUpgradePhases } from '../../pipeline/phases.ts';
import type { Answer, Delivery, Site } from '../../pipeline/state.ts';
import type { BypassDeps, OriginConnector } from '../bypass/ports.ts';
import { GATEWAY_FASTIFY_OPTIONS, registerBypass } from '../bypass/register-bypass.ts';
import { createTunnel, type Tunnel, type UpgradeDecision } from '../bypass/tunnel-upgrade.ts';
import type { UpgradeListener } from '../door/create-http-server.ts';
import { bypassTarget } from './bypass-target.ts';
import {
  beginVisit,
  type FinishedRequest,
  finishVisit,
  type OriginTurn,
  settleBypass,
  type Visit,
} from './visit.ts';
import { writeAnswer } from './write-answer.ts';

/** What a request reads of the configuration; taken once, at its start. */
export interface Snapshot {
  readonly site: Site;
  readonly pipeline: PipelineDeps;
  readonly isTrustedPeer: (address: string) => boolean;
}

export interface GatewayDeps {
  readonly snapshot: () => Snapshot;
  readonly takeOrigin: (origins: readonly Origin[]) => OriginTurn;
  readonly connector: OriginConnector;
  /** Our name in `Via`, by which loops are found. */
  readonly pseudonym: string;
  /** `server.limits.body_bytes`; 0: unlimited. */
  readonly bodyBytesMax: number;
  readonly onFinished: (request: FinishedRequest) => void;
  /** A defect: the client gets a plain 500 with the request id, the log everything. */
  readonly onDefect: (error: unknown, requestId: string) => void;
}

/** Builds the server behind the door, with or without TLS. */
export type ListenerFactory = (
  onUpgrade: UpgradeListener,
  handler: RequestListener,
) => ReturnType<FastifyServerFactory>;

export interface GatewayApp {
  readonly app: FastifyInstance;
  readonly tunnel: Tunnel;
}

type Visits = WeakMap<IncomingMessage, Visit>;

const LOOP_STATUS = 508;

/** Builds the application of one listener; the caller listens. */
export async function createGatewayApp(
  deps: GatewayDeps,
  createListener: ListenerFactory,
): Promise<GatewayApp> {
  const visits: Visits = new WeakMap();
  const shared: BypassDeps = {
    connector: deps.connector,
    pseudonym: deps.pseudonym,
    bodyBytesMax: deps.bodyBytesMax,
    isTrustedPeer: (address) => deps.snapshot().isTrustedPeer(address),
  };
  const tunnel = createTunnel({
    ...shared,
    decide: async (request) => decideUpgrade(request, visits, deps),
    onOutcome: (request, outcome) => settleBypass(visits.get(request), outcome),
  });
  const app = Fastify({
    ...GATEWAY_FASTIFY_OPTIONS,
    logger: false,
    serverFactory: (handler) => createListener(tunnel.onUpgrade, handler),
  });
  app.setErrorHandler((error, request, reply) => {
    const requestId = visits.get(request.raw)?.visitor.client.requestId ?? '';
    deps.onDefect(error, requestId);
    reply.hijack();
    writeAnswer(request.raw, reply.raw, plainAnswer(500, requestId));
  });
  await registerBypass(app, {
    ...shared,
    preHandler: async (request, reply) => await handle(request, reply, visits, deps),
    onOutcome: (request, outcome) => settleBypass(visits.get(request.raw), outcome),
  });
  return { app, tunnel };
}

async function handle(
  request: FastifyRequest,
  reply: FastifyReply,
  visits: Visits,
  deps: GatewayDeps,
): Promise<void> {
  const { site, pipeline, isTrustedPeer } = deps.snapshot();
  const visit = beginVisit(request.raw, request.originalUrl, isTrustedPeer);
  visits.set(request.raw, visit);
  reply.raw.once('close', () => deps.onFinished(finishVisit(visit, reply.raw)));
  const { client } = visit.visitor;
  if (isInLoop(request.raw, deps)) {
    reply.hijack();
    writeAnswer(request.raw, reply.raw, plainAnswer(LOOP_STATUS, client.requestId));
    return;
  }
  const delivery = await runPhases({ request: client, site }, pipeline);
  visit.record = delivery.record;
  if (delivery.kind === 'bypass') {
    visit.turn = deps.takeOrigin(delivery.host.origins);
    request.bypassTarget = bypassTarget(visit.visitor, delivery, visit.turn.originUrl);
    return;
  }
  reply.hijack();
  writeAnswer(request.raw, reply.raw, withVia(delivery, deps.pseudonym));
}

async function decideUpgrade(
  request: IncomingMessage,
  visits: Visits,
  deps: GatewayDeps,
): Promise<UpgradeDecision> {
  const { site, isTrustedPeer } = deps.snapshot();
  const visit = beginVisit(request, request.url ?? '/', isTrustedPeer);
  visits.set(request, visit);
  request.socket.once('close', () => deps.onFinished(finishVisit(visit, null)));
  if (isInLoop(request, deps)) return { status: LOOP_STATUS };
  const delivery = runUpgradePhases({ request: visit.visitor.client, site });
  visit.record = delivery.record;
  if (delivery.kind === 'answer') return { status: delivery.answer.status };
  visit.turn = deps.takeOrigin(delivery.host.origins);
  return { target: bypassTarget(visit.visitor, delivery, visit.turn.originUrl) };
}

function isInLoop(request: IncomingMessage, { pseudonym }: GatewayDeps): boolean {
  return isLoop(fieldValues(request.rawHeaders, 'via'), pseudonym);
}

/** RFC 9110 §7.6.3: a page that came through us says so; our own answers did not come through. */
function withVia(
  { answer, record }: Extract<Delivery, { readonly kind: 'answer' }>,
  pseudonym: string,
): Answer {
  if (record.source === 'status') return answer;
  return { ...answer, headers: [...answer.headers, ['Via', viaMember('1.1', pseudonym)]] };
}

function plainAnswer(status: number, requestId: string): Answer {
  const body = Buffer.from(`${statusText(status)}\nrequest id: ${requestId}\n`);
  return {
    status,
    headers: [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Content-Length', String(body.length)],
      ['Cache-Control', 'no-store'],
      ['X-Request-ID', requestId],
    ],
    body,
  };
}
