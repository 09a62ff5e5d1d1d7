// The UsageBook port on Redis: pages by their last use, their sizes, and the sums of each host. All
// of them change in one script, and in a Cluster lie on one server, so that the sums are those of
// the pages. What Redis forgets by itself, because it has expired, stays in the book until a sweep.
import type { Clock, Done } from '../../pipeline/ports.ts';
import type { HostUsage, UsageBook, UsageChange, UsedEntry } from '../../pipeline/upkeep-ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

/** Sorted set: keys by the second of their last use. */
const ORDER_KEY = '{usage}:order';
/** Hash: bytes by key. */
const BYTES_KEY = '{usage}:bytes';
/** Hash: `<host id>:entries` and `<host id>:bytes`. */
const HOSTS_KEY = '{usage}:hosts';

/** A bound on how long Redis is busy with one script. */
const CHANGES_PER_SCRIPT = 200;
const SCAN_COUNT = 500;

/** ARGV: seconds now, then of each change: kind, key, bytes, seconds when it was used. */
const APPLY = `
  local order, sizes, hosts = KEYS[1], KEYS[2], KEYS[3]
  local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2]
  -- A clock that was set back must not make what is used now the oldest.
  local now = math.max(tonumber(ARGV[1]), tonumber(last or '0'))
  local ahead = now - tonumber(ARGV[1])
  local function add(host, field, by)
    if by ~= 0 then
      redis.call('HINCRBY', hosts, host .. ':' .. field, string.format('%.0f', by))
    end
  end
  for i = 2, #ARGV, 4 do
    local kind, key = ARGV[i], ARGV[i + 1]
    local bytes, used = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    local before = tonumber(redis.call('HGET', sizes, key) or nil)
    local host = string.match(key, '^cache:(%d+):') or '0'
    if kind == 'gone' then
      if before then
        redis.call('ZREM', order, key)
        redis.call('HDEL', sizes, key)
        add(host, 'entries', -1)
        add(host, 'bytes', -before)
      end
    elseif kind == 'used' then
      if before then redis.call('ZADD', order, math.min(used + ahead, now), key) end
    else
      if kind == 'stored' or not before then
        local seconds = kind == 'stored' and used + ahead or used
        redis.call('ZADD', order, math.min(seconds, now), key)
      end
      if before ~= bytes then redis.call('HSET', sizes, key, ARGV[i + 2]) end
      if not before then add(host, 'entries', 1) end
      add(host, 'bytes', bytes - (before or 0))
    end
  end
`;

export interface RedisUsageBookOptions {
  readonly connection: RedisConnection;
  readonly clock: Clock;
}

/** Makes the usage book over a connection that others use too. */
export function createRedisUsageBook({ connection, clock }: RedisUsageBookOptions): UsageBook {
  async function apply(changes: readonly UsageChange[]): Promise<Done<void>> {
    for (let from = 0; from < changes.length; from += CHANGES_PER_SCRIPT) {
      const args = changes.slice(from, from + CHANGES_PER_SCRIPT).flatMap(toArguments);
      const now = Math.floor(clock.now() / 1_000);
      const done = await connection.run(ORDER_KEY, (redis) =>
        redis.eval(APPLY, 3, ORDER_KEY, BYTES_KEY, HOSTS_KEY, now, ...args),
      );
      if (done.state === 'unavailable') return done;
    }
    return { state: 'done', value: undefined };
  }

  async function countHosts(): Promise<Done<readonly HostUsage[]>> {
    const sums = await connection.run(HOSTS_KEY, (redis) => redis.hgetall(HOSTS_KEY));
    if (sums.state === 'unavailable') return sums;
    const hosts = Object.keys(sums.value).flatMap((field): readonly HostUsage[] => {
      const [, hostId] = /^(\d+):entries$/.exec(field) ?? [];
      const entries = Number(sums.value[field]);
      if (hostId === undefined || !(entries > 0)) return [];
      return [
        { hostId: Number(hostId), entries, bytes: Number(sums.value[`${hostId}:bytes`] ?? 0) },
      ];
    });
    return { state: 'done', value: hosts.toSorted((a, b) => a.hostId - b.hostId) };
  }

  async function listOldest(count: number): Promise<Done<readonly UsedEntry[]>> {
    return await connection.run(ORDER_KEY, async (redis) => {
      const keys = await redis.zrange(ORDER_KEY, 0, String(count - 1));
      if (keys.length === 0) return [];
      const sizes = await redis.hmget(BYTES_KEY, ...keys);
      return keys.map((key, index) => ({ key, bytes: Number(sizes[index] ?? 0) }));
    });
  }

  async function* list(): AsyncGenerator<Done<readonly UsedEntry[]>> {
    let cursor = '0';
    do {
      const from = cursor;
      const slice = await connection.run(BYTES_KEY, (redis) =>
        redis.hscan(BYTES_KEY, from, 'COUNT', SCAN_COUNT),
      );
      if (slice.state === 'unavailable') {
        yield slice;
        return;
      }
      const [next, pairs] = slice.value;
      cursor = next;
      const rows = pairs.flatMap((key, index) =>
        index % 2 === 0 ? [{ key, bytes: Number(pairs[index + 1]) }] : [],
      );
      if (rows.length > 0) yield { state: 'done', value: rows };
    } while (cursor !== '0');
  }

  return { apply, countHosts, listOldest, list };
}

function toArguments(change: UsageChange): readonly (string | number)[] {
  const bytes = 'bytes' in change ? change.bytes : 0;
  const usedAt = 'usedAt' in change ? Math.floor(change.usedAt / 1_000) : 0;
  return [change.kind, change.key, bytes, usedAt];
}
