// The lane before a gateway of nothing but bypass: plain GETs are passed on from socket to socket,
// to the same target as the long way.
import { keepLinks } from '../../src/adapters/origin/keep-links.ts';
import type { ServerLimits } from '../../src/config/settings.ts';
import { isLoop } from '../../src/core/http/forwarded.ts';
import type { BypassOutcome, BypassTarget } from '../../src/server/bypass/ports.ts';
import type { TakeTurn } from '../../src/server/door/lane.ts';
import type { Snapshot } from '../../src/server/gateway/gateway-deps.ts';
import type { Passable } from '../../src/server/lane/address-request.ts';
import { Outgoing } from '../../src/server/lane/outgoing.ts';
import { createPasser } from '../../src/server/lane/pass-request.ts';
import { createHeadReader } from '../../src/server/lane/read-head.ts';
import { hostPolicy } from './policies.ts';

export interface BypassLaneOptions {
  readonly limits: ServerLimits;
  readonly pseudonym: string;
  readonly isTrustedPeer: (address: string) => boolean;
  /** null: no host of ours. */
  readonly targetFor: (host: string) => BypassTarget | null;
  readonly onOutcome: (outcome: BypassOutcome) => void;
}

export interface BypassLane {
  readonly take: TakeTurn;
  readonly close: () => void;
  /** How often each turn at an origin was ended. */
  readonly turnEnds: () => readonly number[];
}

export function createBypassLane(options: BypassLaneOptions): BypassLane {
  const { limits, pseudonym, isTrustedPeer, targetFor } = options;
  const links = keepLinks();
  const turns: { ends: number }[] = [];
  const pass = createPasser({
    links,
    outgoing: new Outgoing(),
    pseudonym,
    keepAliveTimeoutMs: limits.keepAliveTimeoutMs,
    takeOrigin: ([origin]) => {
      const turn = { ends: 0 };
      turns.push(turn);
      const end = (): void => {
        turn.ends += 1;
      };
      return { originUrl: origin?.url ?? '', end };
    },
    onFinished: ({ bypass }) => {
      if (bypass !== null) options.onOutcome(bypass);
    },
  });
  const readHead = createHeadReader(limits.headerFieldsMax);
  return {
    take: (turn) => {
      const head = readHead(turn.chunk);
      const target = head === null ? null : targetFor(head.host);
      if (head === null || target === null || isLoop([head.via ?? ''], pseudonym)) return 'left';
      const peer = turn.socket.remoteAddress ?? '';
      // Of the configuration it reads no more than whom it trusts.
      const snapshot = { isTrustedPeer } as Snapshot;
      const request = { head, peer, address: peer, snapshot, startedAtMs: performance.now() };
      return pass(turn, request, passableTo(target));
    },
    close: links.close,
    turnEnds: () => turns.map(({ ends }) => ends),
  };
}

function passableTo(target: BypassTarget): Passable {
  const { originUrl, hostHeader, scheme, timeoutMs, userAgent, downstream } = target;
  const host = hostPolicy({
    origins: [{ url: originUrl }],
    originHostHeader: hostHeader,
    scheme,
  });
  const record = { host } as Passable['delivery']['record'];
  return {
    delivery: { kind: 'bypass', host, timeoutMs, userAgent, downstream, headers: [], record },
    headersFor: () => target.extraResponseHeaders,
  };
}
