// `redis`: a URL, or address, password and database of the reference engine, made into one.
import type { RedisLogin, RedisTarget } from '../core/redis-target.ts';
import { type ConfigNode, childOf, reportError } from './config-node.ts';
import { readAt, readFlag, readList, readNumber, readParsed, readText } from './read-values.ts';
import { parseHostPort, parseRedisUrl } from './values/parse-redis-url.ts';

/** Reads the block; undefined means the embedded store. */
export function readRedis(node: ConfigNode): RedisTarget | undefined {
  const ways = ['url', 'addr', 'sentinels', 'cluster'].filter((key) => childOf(node, key));
  if (ways.length === 0) {
    reportError(node, '`redis` names no server', 'write url: redis://127.0.0.1:6379/0');
    return undefined;
  }
  const [, second] = ways;
  if (second !== undefined) {
    reportError(
      childOf(node, second) ?? node,
      `\`redis.${second}\` does not go with \`redis.${ways[0]}\``,
      'write one of url, addr, sentinels and cluster',
    );
  }
  switch (ways[0]) {
    case 'url':
      return readUrl(node);
    case 'addr':
      return readAddress(node);
    case 'sentinels':
      return readSentinels(node);
    default:
      return readCluster(node);
  }
}

const readHostPorts = readList(readParsed(parseHostPort));

function readSentinels(node: ConfigNode): RedisTarget | undefined {
  const name = readAt(node, 'name', readText);
  if (name === undefined || name === '') {
    reportError(node, '`redis.sentinels` needs `redis.name`', 'write the name of the master');
    return undefined;
  }
  const sentinels = readAt(node, 'sentinels', readHostPorts) ?? [];
  const db = readAt(node, 'db', readNumber) ?? 0;
  return { kind: 'sentinel', sentinels, name, login: readLogin(node), db };
}

function readCluster(node: ConfigNode): RedisTarget | undefined {
  const db = childOf(node, 'db');
  if (db !== undefined) reportError(db, 'a Redis Cluster has only database 0', 'leave it out');
  const nodes = readAt(node, 'cluster', readHostPorts) ?? [];
  return { kind: 'cluster', nodes, login: readLogin(node) };
}

function readLogin(node: ConfigNode): RedisLogin {
  return {
    user: readAt(node, 'user', readText) ?? null,
    password: readAt(node, 'password', readText) ?? null,
    tls: readAt(node, 'tls', readFlag) ?? false,
  };
}

function readUrl(node: ConfigNode): RedisTarget | undefined {
  for (const key of ['user', 'password', 'db', 'tls']) {
    const extra = childOf(node, key);
    if (extra === undefined) continue;
    reportError(
      extra,
      `\`redis.${key}\` has no effect beside \`redis.url\``,
      'write it in the URL',
    );
  }
  const url = readAt(node, 'url', readParsed(parseRedisUrl));
  return url === undefined ? undefined : { kind: 'single', url };
}

function readAddress(node: ConfigNode): RedisTarget | undefined {
  const address = readAt(node, 'addr', readParsed(parseHostPort));
  if (address === undefined) return undefined;
  const { user, password, tls } = readLogin(node);
  const db = readAt(node, 'db', readNumber) ?? 0;
  const login = [user, password].map((text) => encodeURIComponent(text ?? '')).join(':');
  const credentials = login === ':' ? '' : `${login}@`;
  return { kind: 'single', url: `${tls ? 'rediss' : 'redis'}://${credentials}${address}/${db}` };
}
