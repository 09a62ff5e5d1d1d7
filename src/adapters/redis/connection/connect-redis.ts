// Connects to Redis of any kind. A single server and the master of a Sentinel group are one link;
// a Cluster is one link a node.
import { LIMITS } from '../../../core/limits.ts';
import { CONNECT_TIMEOUT_MS, type RedisTarget } from '../../../core/redis-target.ts';
import { connectCluster } from './cluster/connect-cluster.ts';
import type { ConnectionUse, OutageReporter } from './outage-reporter.ts';
import { answer, type RedisConnection } from './redis-connection.ts';
import { serverOf } from './redis-target.ts';
import { openServerLink } from './server-link.ts';
import { watchSentinels } from './watch-sentinels.ts';

export interface ConnectOptions {
  readonly use: ConnectionUse;
  readonly reporter: OutageReporter;
  readonly monotonicNow: () => number;
  /** How long a caller waits at most; the store timeout unless given. */
  readonly timeoutMs?: number | undefined;
}

/** Answers after the first attempt, also when it failed: it goes on in the background. */
export async function connectRedis(
  target: RedisTarget,
  options: ConnectOptions,
): Promise<RedisConnection> {
  const { use, reporter, monotonicNow, timeoutMs = LIMITS.storeTimeoutMs } = options;
  if (target.kind === 'cluster') {
    return await connectCluster(target, { use, reporter, monotonicNow, timeoutMs });
  }
  const server = serverOf(target);
  const link = openServerLink(server, {
    reporter: reporter.of(server.name, use),
    monotonicNow,
    timeoutMs,
  });
  const listeners = [link.renew];
  const stopWatching =
    target.kind === 'sentinel'
      ? watchSentinels(target, () => {
          for (const listener of listeners) listener();
        })
      : () => undefined;
  await link.settle(CONNECT_TIMEOUT_MS);
  return {
    name: server.name,
    isOneServer: true,
    run: (_key, command, withinMs = timeoutMs) => answer(link.attempt(command, withinMs)),
    servers: () => [{ run: (command) => answer(link.attempt(command, timeoutMs)) }],
    openClient: (_key, clientOptions) => server.open(clientOptions),
    settledForMs: () => monotonicNow() - (link.readySince() ?? monotonicNow()),
    onReplaced: (listener) => void listeners.push(listener),
    close: () => {
      stopWatching();
      link.close();
    },
  };
}
