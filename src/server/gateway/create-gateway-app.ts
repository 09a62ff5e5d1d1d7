// The public listener: every request is for the site itself, by its Host.
import type { IncomingMessage } from 'node:http';
import { runUpgradePhases } from '../../pipeline/phases.ts';
import type { UpgradeDecision } from '../bypass/tunnel-upgrade.ts';
import { buildApp, type Visits } from './build-app.ts';
import { askedOf, bypassTarget } from './bypass-target.ts';
import type { GatewayApp, GatewayDeps, ListenerFactory } from './gateway-deps.ts';
import { isInLoop, LOOP_STATUS, serveVisit } from './serve-visit.ts';
import { beginVisit, finishVisit } from './visit.ts';

/** Builds the application of one listener; the caller listens. */
export async function createGatewayApp(
  deps: GatewayDeps,
  createListener: ListenerFactory,
): Promise<GatewayApp> {
  return await buildApp(
    deps,
    {
      handle: async (request, reply, visits) => {
        const snapshot = deps.snapshot();
        const visit = beginVisit(request.raw, request.originalUrl, snapshot.isTrustedPeer);
        visits.set(request.raw, visit);
        reply.raw.once('close', () => deps.onFinished(finishVisit(visit, reply.raw)));
        await serveVisit({ request, reply, visit, snapshot }, deps);
      },
      decideUpgrade: (request, visits) => decideUpgrade(request, visits, deps),
    },
    createListener,
  );
}

function decideUpgrade(
  request: IncomingMessage,
  visits: Visits,
  deps: GatewayDeps,
): UpgradeDecision {
  const { site, isTrustedPeer } = deps.snapshot();
  const visit = beginVisit(request, request.url ?? '/', isTrustedPeer);
  visits.set(request, visit);
  request.socket.once('close', () => deps.onFinished(finishVisit(visit, null)));
  if (isInLoop(request, deps.pseudonym)) return { status: LOOP_STATUS };
  const delivery = runUpgradePhases({
    request: visit.visitor.client,
    site,
    onInformation: () => undefined,
  });
  visit.record = delivery.record;
  if (delivery.kind === 'answer') return { status: delivery.answer.status };
  visit.turn = deps.takeOrigin(delivery.host.origins);
  return { target: bypassTarget(askedOf(visit), delivery, visit.turn.originUrl) };
}
