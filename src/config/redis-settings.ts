// `redis`: a URL, or address, password and database of the reference engine, made into one.
import { type ConfigNode, childOf, reportError } from './config-node.ts';
import { readAt, readList, readNumber, readParsed, readText } from './read-values.ts';
import type { RedisSettings } from './settings.ts';
import { parseHostPort, parseRedisUrl } from './values/parse-redis-url.ts';

/** Reads the block; undefined means the embedded store. */
export function readRedis(node: ConfigNode): RedisSettings | undefined {
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
  for (const key of ['sentinels', 'cluster']) {
    readAt(node, key, readList(readParsed(parseHostPort)));
  }
  if (ways[0] === 'url') return readUrl(node);
  return ways[0] === 'addr' ? readAddress(node) : undefined;
}

function readUrl(node: ConfigNode): RedisSettings | undefined {
  for (const key of ['password', 'db']) {
    const extra = childOf(node, key);
    if (extra === undefined) continue;
    reportError(
      extra,
      `\`redis.${key}\` has no effect beside \`redis.url\``,
      'write it in the URL',
    );
  }
  const url = readAt(node, 'url', readParsed(parseRedisUrl));
  return url === undefined ? undefined : { url };
}

function readAddress(node: ConfigNode): RedisSettings | undefined {
  const address = readAt(node, 'addr', readParsed(parseHostPort));
  if (address === undefined) return undefined;
  const password = readAt(node, 'password', readText) ?? '';
  const db = readAt(node, 'db', readNumber) ?? 0;
  const credentials = password === '' ? '' : `:${encodeURIComponent(password)}@`;
  return { url: `redis://${credentials}${address}/${db}` };
}
