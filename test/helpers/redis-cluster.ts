// A Redis Cluster on loopback: three masters, and a replica of the first where one is asked for.
import { Redis } from 'ioredis';
import { findFreePort } from './free-port.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';
import { waitUntil } from './wait-until.ts';

export interface RedisCluster {
  /** `host:port` of each master. */
  readonly nodes: readonly string[];
  readonly masters: readonly RedisServer[];
  readonly replica: RedisServer | null;
  /** Gives the slots of a range to another master, keys included. */
  readonly moveSlot: (slot: number, from: number, to: number) => Promise<void>;
  readonly flush: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const SLOTS = 16_384;
const MASTERS = 3;

/** Starts the nodes; the Cluster is whole when this answers. */
export async function startRedisCluster({ replica = false } = {}): Promise<RedisCluster> {
  const servers = await Promise.all(
    Array.from({ length: replica ? MASTERS + 1 : MASTERS }, () => startNode()),
  );
  const clients = servers.map(({ url }) => openClient(url));
  const [first] = servers;
  if (first === undefined) throw new Error('no node');
  const [, ...rest] = clients;
  await Promise.all(
    rest.map((client) => client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.busPort)),
  );
  const masters = clients.slice(0, MASTERS);
  const bounds = Array.from({ length: MASTERS + 1 }, (_, i) => Math.floor((SLOTS * i) / MASTERS));
  for (const [i, client] of masters.entries()) {
    const [from = 0, to = 0] = bounds.slice(i);
    await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to - 1);
  }
  const extra = clients[MASTERS];
  if (extra !== undefined) await follow(extra, await idOf(clients[0]));
  for (const client of clients) await waitUntilWhole(client, clients.length);
  return {
    nodes: servers.slice(0, MASTERS).map(({ port }) => `127.0.0.1:${port}`),
    masters: servers.slice(0, MASTERS),
    replica: servers[MASTERS] ?? null,
    moveSlot: (slot, from, to) => moveSlot(masters, { slot, from, to }),
    flush: async () => {
      await Promise.all(masters.map((client) => client.flushall()));
    },
    stop: async () => {
      for (const client of clients) client.disconnect();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A node that a test has killed is no news. */
function openClient(url: string): Redis {
  return new Redis(url, { retryStrategy: null }).on('error', () => undefined);
}

type ClusterNode = RedisServer & { readonly busPort: number };

async function startNode(): Promise<ClusterNode> {
  const busPort = await findFreePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  const lost = ['--cluster-node-timeout', '1000', '--cluster-require-full-coverage', 'no'];
  const args = [...cluster, ...lost, '--repl-diskless-sync-delay', '0'];
  return { ...(await startRedisServer({ args })), busPort };
}

async function idOf(client: Redis | undefined): Promise<string> {
  return String(await client?.call('CLUSTER', 'MYID'));
}

/** A node takes another for its master once it has heard of it. */
async function follow(client: Redis, masterId: string): Promise<void> {
  await waitUntil('the replica knows its master', async () => {
    try {
      await client.call('CLUSTER', 'REPLICATE', masterId);
      return true;
    } catch {
      return false;
    }
  });
}

async function waitUntilWhole(client: Redis, nodes: number): Promise<void> {
  await waitUntil('the Cluster is whole', async () => {
    const info = String(await client.call('CLUSTER', 'INFO'));
    return (
      info.includes('cluster_state:ok') &&
      info.includes(`cluster_slots_ok:${SLOTS}`) &&
      info.includes(`cluster_known_nodes:${nodes}`)
    );
  });
}

interface Move {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
}

async function moveSlot(masters: readonly Redis[], { slot, from, to }: Move): Promise<void> {
  const [source, target] = [masters[from], masters[to]];
  if (source === undefined || target === undefined) throw new Error('no such master');
  const [sourceId, targetId] = [await idOf(source), await idOf(target)];
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId);
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId);
  const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
  const { host, port } = target.options;
  for (const key of keys) await source.call('MIGRATE', host ?? '', port ?? 0, key, 0, 5_000);
  for (const client of [target, source, ...masters]) {
    await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId);
  }
}
