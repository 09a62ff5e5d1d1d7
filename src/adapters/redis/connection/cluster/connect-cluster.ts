// A Redis Cluster as one bounded link a node, with a table of who has which slot. Every node has
// its own breaker: one that is lost makes its own keys unavailable and no others. (The client
// library has a Cluster of its own; it retries, queues and waits where a caller here may wait for
// 200 ms at most.)

import { RedisLostError } from '../../../../core/redis-error.ts';
import { splitAddress } from '../../../../core/redis-target.ts';
import { answer, type RedisConnection } from '../redis-connection.ts';
import { placeOfNode } from '../redis-target.ts';
import type { Command } from '../server-link.ts';
import type { ClusterOptions, ClusterTarget } from './node-links.ts';
import { type Redirect, readRedirect } from './redirect.ts';
import { createTopology } from './topology.ts';

/** How often a command is sent on before it is given up. */
const HOPS_MAX = 3;

/** Connects to the nodes; answers after the first attempt, also when it failed. */
export async function connectCluster(
  target: ClusterTarget,
  options: ClusterOptions,
): Promise<RedisConnection> {
  const { monotonicNow, timeoutMs } = options;
  const topology = createTopology(target, options);
  await topology.discover();

  async function attempt<T>(key: string, command: Command<T>, withinMs: number): Promise<T> {
    const deadline = monotonicNow() + withinMs;
    const leftMs = (): number => Math.max(0, deadline - monotonicNow());
    let link = topology.ownerOf(key);
    let redirect: Redirect | null = null;
    for (let hops = 0; ; hops += 1) {
      try {
        if (link === null) throw new RedisLostError();
        return await link.attempt(redirect?.kind === 'ask' ? asking(command) : command, leftMs());
      } catch (error) {
        redirect = readRedirect(error);
        if (redirect?.kind !== 'ask') topology.refresh();
        if (redirect === null || link === null || hops === HOPS_MAX) throw error;
        link = topology.linkTo(addressOf(redirect, link.name));
        await link.settle(leftMs());
      }
    }
  }

  return {
    name: target.nodes.join(','),
    isOneServer: false,
    run: (key, command, withinMs = timeoutMs) => answer(attempt(key, command, withinMs)),
    servers: () =>
      topology.masters().map((link) => ({
        run: (command) => answer(link.attempt(command, timeoutMs)),
      })),
    openClient: (key, clientOptions) => {
      const owner = topology.ownerOf(key);
      return owner === null ? null : placeOfNode(owner.name, target.login).open(clientOptions);
    },
    settledForMs: (key) => {
      const readySince = topology.ownerOf(key)?.readySince() ?? monotonicNow();
      return monotonicNow() - Math.max(readySince, topology.changedAt());
    },
    onReplaced: topology.onChanged,
    close: topology.close,
  };
}

/** The permission holds for the next command of the connection, so both go in one turn. */
function asking<T>(command: Command<T>): Command<T> {
  return async (redis) => {
    const [, value] = await Promise.all([redis.asking(), command(redis)]);
    return value;
  };
}

function addressOf({ address }: Redirect, askedAddress: string): string {
  if (!address.startsWith(':')) return address;
  const { host } = splitAddress(askedAddress);
  return `${host.includes(':') ? `[${host}]` : host}${address}`;
}
