// The application behind the door, the same for every listener that serves pages: one Fastify route
// whose hook is the listener's front, server/bypass behind it, and the answer to defects.
import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { BypassDeps } from '../bypass/ports.ts';
import { GATEWAY_FASTIFY_OPTIONS, registerBypass } from '../bypass/register-bypass.ts';
import { createTunnel, type UpgradeDecision } from '../bypass/tunnel-upgrade.ts';
import type { GatewayApp, GatewayDeps, ListenerFactory } from './gateway-deps.ts';
import { plainAnswer } from './plain-answer.ts';
import { settleBypass, type Visit } from './visit.ts';
import { writeAnswer } from './write-answer.ts';

export type Visits = WeakMap<IncomingMessage, Visit>;

/** How one listener reads requests. */
export interface Front {
  /** Answers, or sets `request.bypassTarget`. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply, visits: Visits) => Promise<void>;
  readonly decideUpgrade: (request: IncomingMessage, visits: Visits) => UpgradeDecision;
}

/** Builds the application of one listener; the caller listens. */
export async function buildApp(
  deps: GatewayDeps,
  front: Front,
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
    decide: async (request) => front.decideUpgrade(request, visits),
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
    preHandler: async (request, reply) => await front.handle(request, reply, visits),
    onOutcome: (request, outcome) => settleBypass(visits.get(request.raw), outcome),
  });
  return { app, tunnel };
}
