// The public side of a process: its servers over the runtime in service.
import { connectOrigins } from '../adapters/origin/connect-origin.ts';
import { keepLinks } from '../adapters/origin/keep-links.ts';
import type { Config } from '../config/settings.ts';
import { buildPublic, type PublicServers } from './build-public.ts';
import type { Foundation } from './foundation.ts';
import type { RuntimeHolder } from './hold-runtime.ts';
import { createRequestObserver } from './observe.ts';
import type { Releases } from './releases.ts';

export interface PageServing {
  readonly foundation: Foundation;
  readonly runtime: RuntimeHolder;
  readonly isDraining: () => boolean;
  /** As `PublicDeps`. */
  readonly ticketKeys: Buffer | null;
}

export async function servePages(
  config: Config,
  { foundation, runtime, isDraining, ticketKeys }: PageServing,
  releases: Releases,
): Promise<PublicServers> {
  const { log, metrics, lasting } = foundation;
  const connections = connectOrigins();
  releases.add(connections.close);
  const links = keepLinks();
  releases.add(links.close);
  return await buildPublic(config, releases, {
    snapshot: () => runtime.current().snapshot,
    takeOrigin: lasting.balancer.take,
    connector: connections,
    links,
    pseudonym: lasting.pseudonym,
    bodyBytesMax: config.settings.server.limits.bodyBytesMax,
    onFinished: createRequestObserver(log, metrics),
    onRefused: metrics.recordRefusal,
    ticketKeys,
    isReady: async () => {
      const { state } = await runtime.current().source.check();
      return state === 'done' && !isDraining();
    },
    onDefect: (error, requestId) => log.error('defect', { request_id: requestId, err: error }),
  });
}
