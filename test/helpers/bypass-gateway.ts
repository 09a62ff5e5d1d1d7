// A gateway of nothing but the door, bypass and the tunnel: every request for `good.example` goes to
// one origin. What these three must hold is tested here without cache, rules or configuration.

import type { Server } from 'node:http';
import { type AddressInfo, BlockList, isIPv6 } from 'node:net';
import Fastify from 'fastify';
import { connectOrigins } from '../../src/adapters/origin/connect-origin.ts';
import type { ServerLimits } from '../../src/config/settings.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { BypassOutcome, BypassTarget } from '../../src/server/bypass/ports.ts';
import {
  GATEWAY_FASTIFY_OPTIONS,
  registerBypass,
} from '../../src/server/bypass/register-bypass.ts';
import { createTunnel } from '../../src/server/bypass/tunnel-upgrade.ts';
import { createHttpServer } from '../../src/server/door/create-http-server.ts';
import { type Certificate, createTlsServer } from '../../src/server/door/create-tls-server.ts';
import type { RefusalReason } from '../../src/server/door/refusals.ts';
import { createBypassLane } from './bypass-lane.ts';
import { SERVER_LIMITS } from './server-limits.ts';

export interface BypassGateway {
  readonly port: number;
  readonly refused: readonly RefusalReason[];
  readonly outcomes: readonly BypassOutcome[];
  readonly close: () => Promise<void>;
}

export interface BypassGatewayOptions {
  readonly originUrl: string;
  readonly limits?: Partial<ServerLimits>;
  readonly target?: Partial<BypassTarget>;
  readonly trusted?: readonly string[];
  /** Listens with TLS, HTTP/2 and HTTP/1.1. */
  readonly certificate?: Certificate;
}

export const PSEUDONYM = 'edge-gateway-test';
const KNOWN_HOST = /^good\.example(?::\d+)?$/i;

let isByLane = false;
const laneTurnEnds: number[] = [];

/** From now on plain GETs are passed on by the lane, as in the whole gateway. */
export function passByLane(): void {
  isByLane = true;
}

/** By which a GET may be passed on: what the lane can't read is asked for again. */
export function countWays(): number {
  return isByLane ? 2 : 1;
}

/** For each request that closed gateways had in the lane, how often its origin's turn was ended. */
export function listLaneTurnEnds(): readonly number[] {
  return laneTurnEnds;
}

/** Starts on a free loopback port. */
export async function startBypassGateway(options: BypassGatewayOptions): Promise<BypassGateway> {
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const refused: RefusalReason[] = [];
  const outcomes: BypassOutcome[] = [];
  const connector = connectOrigins();
  const deps = {
    connector,
    pseudonym: PSEUDONYM,
    isTrustedPeer: trustCheck(options.trusted ?? []),
    bodyBytesMax: limits.bodyBytesMax,
    onOutcome: (_request: unknown, outcome: BypassOutcome) => void outcomes.push(outcome),
  };
  const targetFor = (host: string): BypassTarget => ({
    requestId: 'test-id',
    inner: null,
    originUrl: options.originUrl,
    hostHeader: host,
    publicHost: host,
    scheme: 'https',
    timeoutMs: 5_000,
    userAgent: null,
    downstream: 'as_sent',
    extraResponseHeaders: [['X-Request-ID', 'test-id']],
    ...options.target,
  });
  const tunnel = createTunnel({
    ...deps,
    decide: async ({ headers: { host = '' } }) =>
      KNOWN_HOST.test(host) ? { target: targetFor(host) } : { status: 421 },
  });
  const lane = createBypassLane({
    ...deps,
    limits,
    targetFor: (host) => (KNOWN_HOST.test(host) ? targetFor(host) : null),
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  const app = Fastify({
    ...GATEWAY_FASTIFY_OPTIONS,
    serverFactory: (handler): Server => {
      const door = {
        limits,
        urlBytesMax: LIMITS.urlBytesMax,
        onRefused: (reason: RefusalReason) => void refused.push(reason),
        onUpgrade: tunnel.onUpgrade,
        ...(isByLane && { lane: lane.take }),
      };
      if (options.certificate === undefined) return createHttpServer(door, handler);
      // Fastify's types know one kind of server at a time; it uses no more than both have.
      return createTlsServer(door, options.certificate, handler) as unknown as Server;
    },
  });
  await registerBypass(app, {
    ...deps,
    preHandler: async (request, reply) => {
      const { host = '' } = request.headers;
      if (!KNOWN_HOST.test(host)) return reply.code(421).send('unknown host\n');
      request.bypassTarget = targetFor(host);
      return undefined;
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    port: (app.server.address() as AddressInfo).port,
    refused,
    outcomes,
    close: async () => {
      tunnel.close();
      connector.close();
      lane.close();
      if ('closeAllConnections' in app.server) app.server.closeAllConnections();
      await app.close();
      laneTurnEnds.push(...lane.turnEnds());
    },
  };
}

function trustCheck(addresses: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const address of addresses) list.addAddress(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
