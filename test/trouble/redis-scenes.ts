// What can happen to a Redis, one scene each.
import { Redis } from 'ioredis';
import { startRedisCluster } from '../helpers/redis-cluster.ts';
import { type RedisRelay, startRedisRelay } from '../helpers/redis-relay.ts';
import { startSentinelGroup } from '../helpers/redis-sentinel.ts';
import { type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import type { Scene } from './run-scene.ts';

/** Longer than any request may wait for Redis. */
const SLOW_MS = 500;

export const REDIS_SCENES: Readonly<Record<string, () => Promise<Scene>>> = {
  'killed, back empty': () =>
    openServerScene(
      (redis) => redis.kill(),
      ({ port }) => startRedisServer({ port }),
    ),
  'frozen (SIGSTOP)': () =>
    openServerScene(
      async (redis) => redis.pause(),
      async (redis) => {
        redis.resume();
        return redis;
      },
    ),
  'full (maxmemory)': () =>
    openServerScene(
      async ({ url }) => await command(url, 'CONFIG', 'SET', 'maxmemory', '1'),
      async (redis) => {
        await command(redis.url, 'CONFIG', 'SET', 'maxmemory', '0');
        return redis;
      },
    ),
  'replaced by an empty one': () =>
    openServerScene(
      async (redis) => {
        await redis.kill();
        await startRedisServer({ port: redis.port }).then((next) => replacements.set(redis, next));
      },
      async (redis) => replacements.get(redis) ?? redis,
    ),
  'slow (500 ms)': () =>
    openRelayScene(
      (relay) => {
        relay.delayMs = SLOW_MS;
      },
      (relay) => {
        relay.delayMs = 0;
      },
    ),
  'Sentinel failover': openFailover,
  'a Cluster node lost': openLostNode,
  'messages cut': () =>
    openRelayScene(
      (relay) => relay.cutMessages(),
      (relay) => relay.heal(),
    ),
};

const replacements = new WeakMap<RedisServer, RedisServer>();

async function openServerScene(
  begin: (redis: RedisServer) => Promise<void>,
  end: (redis: RedisServer) => Promise<RedisServer>,
): Promise<Scene> {
  let redis = await startRedisServer();
  return {
    gateway: `redis: {url: "${redis.url}"}`,
    begin: async () => await begin(redis),
    end: async () => {
      redis = await end(redis);
    },
    close: async () => await redis.stop(),
  };
}

async function openRelayScene(
  begin: (relay: RedisRelay) => void,
  end: (relay: RedisRelay) => void,
): Promise<Scene> {
  const redis = await startRedisServer();
  const relay = await startRedisRelay(redis.port);
  return {
    gateway: `redis: {url: "${relay.url}"}`,
    begin: async () => begin(relay),
    end: async () => end(relay),
    close: async () => {
      await relay.close();
      await redis.stop();
    },
  };
}

async function openFailover(): Promise<Scene> {
  const group = await startSentinelGroup();
  return {
    gateway: `redis: {sentinels: ["${group.sentinel}"], name: ${group.name}}`,
    begin: async () => await group.master.kill(),
    // The Sentinel sees to the rest.
    end: async () => undefined,
    close: group.stop,
  };
}

/** The node with the replica: the keys of the others never miss it. */
async function openLostNode(): Promise<Scene> {
  const cluster = await startRedisCluster({ replica: true });
  const nodes = cluster.nodes.map((node) => `"${node}"`).join(', ');
  return {
    gateway: `redis: {cluster: [${nodes}]}`,
    begin: async () => await cluster.masters[0]?.kill(),
    end: async () => undefined,
    close: cluster.stop,
  };
}

async function command(url: string, name: string, ...args: readonly string[]): Promise<void> {
  const client = new Redis(url);
  await client.call(name, ...args);
  await client.quit();
}
