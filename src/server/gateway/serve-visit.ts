// One request through the pipeline: what it answers is written here; what it passes on gets its
// target and goes its way through server/bypass. Shared by every listener that serves pages.
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoop, viaMember } from '../../core/http/forwarded.ts';
import { fieldValues } from '../../core/http/hop-headers.ts';
import { reasonPhrase } from '../../core/http/status-text.ts';
import type { Information } from '../../pipeline/origin-ports.ts';
import { runPhases } from '../../pipeline/phases.ts';
import type { Answer, Delivery, Keyed } from '../../pipeline/state.ts';
import { relayInformation } from '../bypass/relay-information.ts';
import { askedOf, bypassTarget } from './bypass-target.ts';
import type { GatewayDeps, Snapshot } from './gateway-deps.ts';
import { plainAnswer } from './plain-answer.ts';
import { deliverInTime } from './request-budget.ts';
import type { Visit } from './visit.ts';
import { writeAnswer } from './write-answer.ts';

export const LOOP_STATUS = 508;

/** A request that is about to be served, with the means to answer it. */
export interface OpenVisit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly visit: Visit;
  /** The configuration the request was received under. */
  readonly snapshot: Snapshot;
}

/** @param dress the listener's last word on what goes out */
export async function serveVisit(
  { request, reply, visit, snapshot }: OpenVisit,
  deps: GatewayDeps,
  dress: (delivery: Delivery) => Delivery = (delivery) => delivery,
): Promise<void> {
  const { client } = visit.visitor;
  if (isInLoop(request.raw, deps.pseudonym)) {
    reply.hijack();
    writeAnswer(request.raw, reply.raw, plainAnswer(LOOP_STATUS, client.requestId));
    return;
  }
  const exchange = { request: request.raw, response: reply.raw };
  const received = {
    request: client,
    site: snapshot.site,
    onKeyed: (keyed: Keyed) => {
      visit.awaited = keyed;
    },
    onInformation: ({ statusCode, headers }: Information) =>
      relayInformation(exchange, {
        statusCode,
        statusMessage: reasonPhrase(statusCode),
        rawHeaders: headers.flat(),
      }),
  };
  const delivery = dress(
    await deliverInTime({ visit, snapshot }, runPhases(received, snapshot.pipeline)),
  );
  visit.record = delivery.record;
  if (delivery.kind === 'bypass') {
    visit.turn = deps.takeOrigin(delivery.host.origins);
    request.bypassTarget = bypassTarget(askedOf(visit), delivery, visit.turn.originUrl);
    return;
  }
  const { body } = delivery.answer;
  if (body !== null && !Buffer.isBuffer(body)) visit.streamed = body;
  reply.hijack();
  writeAnswer(request.raw, reply.raw, withVia(delivery, deps.pseudonym));
}

/** Whether the request has been here before. */
export function isInLoop(request: IncomingMessage, pseudonym: string): boolean {
  return isLoop(fieldValues(request.rawHeaders, 'via'), pseudonym);
}

/** RFC 9110 §7.6.3: a page that came through us says so; our own answers did not come through. */
function withVia(
  { answer, record }: Extract<Delivery, { readonly kind: 'answer' }>,
  pseudonym: string,
): Answer {
  if (record.source === 'status' || record.failure !== null) return answer;
  return { ...answer, headers: [...answer.headers, ['Via', viaMember('1.1', pseudonym)]] };
}
