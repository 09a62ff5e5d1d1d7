// What of a host's requests is passed on from socket to socket: those to origins whose answers the
// lane can read. A GET may be asked for twice (RFC 9110 §9.2.2), so whatever is out of the ordinary
// before the head of an answer is left to the long way, which asks again.
import type { OriginLinks } from '../../pipeline/origin-ports.ts';
import type { LaneTurn, TakeTurn } from '../door/lane.ts';
import type { GatewayDeps } from '../gateway/gateway-deps.ts';
import { type Passable, targetOf } from './address-request.ts';
import type { LaneRequest } from './lane-plans.ts';
import { Passing, type PassingDeps } from './passing.ts';

type Pass = (turn: LaneTurn, request: LaneRequest, plan: Passable) => ReturnType<TakeTurn>;

export interface PasserDeps extends Omit<PassingDeps, 'noteOdd'>, Pick<GatewayDeps, 'takeOrigin'> {
  readonly links: Omit<OriginLinks, 'close'>;
}

/** How long the lane leaves an origin alone whose answers it can't read. */
const ODD_MEMORY_MS = 60_000;
const ODD_ORIGINS_MAX = 1_000;

export function createPasser(deps: PasserDeps): Pass {
  /** Until when, by the monotonic clock. */
  const oddOrigins = new Map<string, number>();
  const noteOdd = (originUrl: string): void => {
    if (oddOrigins.size >= ODD_ORIGINS_MAX) oddOrigins.clear();
    oddOrigins.set(originUrl, performance.now() + ODD_MEMORY_MS);
  };
  const passing = { ...deps, noteOdd };
  return (turn, request, plan) => {
    const { origins } = plan.delivery.host;
    // All or none: a turn that is taken here and left would be the long way's as well, and of two
    // equal origins one would get everything.
    for (const { url } of origins) {
      const isOdd = (oddOrigins.get(url) ?? 0) > request.startedAtMs;
      if (isOdd || !deps.links.isUsable(url)) return 'left';
    }
    const originTurn = deps.takeOrigin(origins);
    const target = targetOf(request, plan, originTurn.originUrl);
    const link = deps.links.open(originTurn.originUrl);
    const parts = { turn, request, plan, target, originTurn, link };
    new Passing(parts, passing).start();
    return 'answering';
  };
}
