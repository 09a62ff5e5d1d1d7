// The links to the nodes of a Cluster, one an address, made when they are first needed.

import { type RedisTarget } from '../../../../core/redis-target.ts';
import type { ConnectionUse, OutageReporter } from '../outage-reporter.ts';
import { placeOfNode } from '../redis-target.ts';
import { openServerLink, type ServerLink } from '../server-link.ts';

export interface ClusterOptions {
  readonly use: ConnectionUse;
  readonly reporter: OutageReporter;
  readonly monotonicNow: () => number;
  readonly timeoutMs: number;
}

export type ClusterTarget = Extract<RedisTarget, { kind: 'cluster' }>;

export interface NodeLinks {
  /** Opens it where there is none. */
  readonly to: (address: string) => ServerLink;
  readonly find: (address: string) => ServerLink | null;
  readonly all: () => readonly ServerLink[];
  /** Closes all others. */
  readonly keepOnly: (addresses: ReadonlySet<string>) => void;
  readonly close: () => void;
}

/** Makes the links of one connection; none is open yet. */
export function createNodeLinks({ login }: ClusterTarget, options: ClusterOptions): NodeLinks {
  const { use, reporter, monotonicNow, timeoutMs } = options;
  const links = new Map<string, ServerLink>();
  let isClosed = false;

  function to(address: string): ServerLink {
    const known = links.get(address);
    if (known !== undefined) return known;
    const link = openServerLink(placeOfNode(address, login), {
      reporter: reporter.of(address, use),
      monotonicNow,
      timeoutMs,
    });
    if (isClosed) link.close();
    else links.set(address, link);
    return link;
  }

  function keepOnly(addresses: ReadonlySet<string>): void {
    for (const [address, link] of links) {
      if (addresses.has(address)) continue;
      links.delete(address);
      link.close();
    }
  }

  return {
    to,
    find: (address) => links.get(address) ?? null,
    all: () => [...links.values()],
    keepOnly,
    close: () => {
      isClosed = true;
      keepOnly(new Set());
    },
  };
}
