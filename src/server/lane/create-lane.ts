// The fast lane: what can be answered from the bytes of a request, without Node's parser, Fastify
// and the phases. A hit on a page in memory is one write; what is passed on goes from socket to
// socket. Everything else goes the long way as if there were no lane, and either way a client gets
// the same: what is said is said by the pipeline, here it is only kept for as long as it is right.
import { clientAddress, plainAddress } from '../../core/http/client-address.ts';
import { isLoop } from '../../core/http/forwarded.ts';
import type { OriginLinks } from '../../pipeline/origin-ports.ts';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { createHitAnswerer } from './answer-hit.ts';
import { createLanePlans, type LaneOptions, type LaneRequest } from './lane-plans.ts';
import { Outgoing } from './outgoing.ts';
import { createPasser } from './pass-request.ts';
import { createHeadReader } from './read-head.ts';

/** A longer head is nobody's who is in a hurry. */
const HEAD_BYTES_MAX = 4_096;

export interface LaneDeps extends GatewayDeps {
  readonly links: Omit<OriginLinks, 'close'>;
}

export interface CreateLaneOptions extends Omit<LaneOptions, 'pseudonym'> {
  /** `server.limits.header_bytes` */
  readonly headerBytesMax: number;
}

export function createLane(deps: LaneDeps, options: CreateLaneOptions): TakeTurn {
  const { pseudonym } = deps;
  const headBytesMax = Math.min(HEAD_BYTES_MAX, options.headerBytesMax);
  const readHead = createHeadReader(options.limits.headerFieldsMax);
  const plans = createLanePlans({ ...options, pseudonym });
  const outgoing = new Outgoing();
  const answerHit = createHitAnswerer(deps, outgoing);
  const { keepAliveTimeoutMs } = options;
  const pass = createPasser({ ...deps, outgoing, keepAliveTimeoutMs });

  const read = ({ socket, chunk }: LaneTurn): LaneRequest | null => {
    // Whoever has not taken the last answer yet is in no hurry either.
    if (chunk.length > headBytesMax || !socket.writable || socket.writableLength > 0) return null;
    const startedAtMs = performance.now();
    const head = readHead(chunk);
    if (head === null || (head.via !== null && isLoop([head.via], pseudonym))) return null;
    const peer = socket.remoteAddress ?? '';
    const snapshot = deps.snapshot();
    const { forwardedFor } = head;
    const address =
      forwardedFor === null
        ? plainAddress(peer)
        : clientAddress(peer, [forwardedFor], snapshot.isTrustedPeer);
    return { head, peer, address, snapshot, startedAtMs };
  };

  return (turn) => {
    const request = read(turn);
    const plan = request === null ? null : plans.find(request);
    if (request === null || plan === null) return 'left';
    return plan.kind === 'page' ? answerHit(turn, request, plan) : pass(turn, request, plan);
  };
}
