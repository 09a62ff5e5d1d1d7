// The PurgeLog port on Redis: records by place, appended and published in one step. A place is the
// time of Redis in milliseconds, or one more than the last: later is larger, and no place is given
// a second time even by a store that has lost some, as after a failover. An empty store ends at 0.
import { randomUUID } from 'node:crypto';
import { decodePurge, encodePurge } from '../../core/purge/purge-codec.ts';
import {
  PURGE_KEPT_MS,
  PURGES_MAX,
  type PurgeOrder,
  type PurgeRecord,
} from '../../core/purge/purge-record.ts';
import type { Clock, Done, PurgeLog, PurgeNews } from '../../pipeline/ports.ts';
import type { Channel } from './channel/channel.ts';
import { TRUST_MS } from './channel/channel-session.ts';
import { PURGED_TAIL, purgedHead } from './channel/messages.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { HEAD_KEY, LOG_KEY, NAME_LIFE, READERS_KEY } from './hub.ts';
import type { PurgeFence } from './purge-fence.ts';

export interface PurgeLogOptions {
  readonly connection: RedisConnection;
  readonly channel: Channel;
  readonly fence: PurgeFence;
  readonly reader: string;
  readonly clock: Clock;
}

/**
 * KEYS: head, log, readers. ARGV: order, message up to the place, channel, age and number of the
 * records that stay, the name of a store that has none, and the time of trust. Answers the place
 * and who may trust its memory; nil of a store that has just lost everything: there may be some
 * who have not seen that yet. Removing goes first: a script that has written already may go on
 * when the memory is full, and a purge is what makes room.
 */
const APPEND = `
  ${NAME_LIFE}
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  nameLife(ARGV[6])
  local born = tonumber(redis.call('HGET', KEYS[1], 'born') or '0')
  local last = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')
  local dropped = nil
  if redis.call('ZCARD', KEYS[2]) == 0 then dropped = last end
  local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[4])
  if #old > 0 then
    dropped = redis.call('ZSCORE', KEYS[2], old[#old])
    redis.call('ZREMRANGEBYRANK', KEYS[2], 0, #old - 1)
  end
  local over = redis.call('ZCARD', KEYS[2]) - ARGV[5] + 1
  if over > 0 then
    dropped = redis.call('ZRANGE', KEYS[2], over - 1, over - 1, 'WITHSCORES')[2]
    redis.call('ZREMRANGEBYRANK', KEYS[2], 0, over - 1)
  end
  local seq = string.format('%.0f', math.max(last + 1, now))
  redis.call('HSET', KEYS[1], 'seq', seq)
  if dropped then
    redis.call('HSET', KEYS[1], 'dropped', string.format('%.0f', tonumber(dropped)))
  end
  redis.call('ZADD', KEYS[2], seq, seq .. ' ' .. ARGV[1])
  redis.call('PUBLISH', ARGV[3], ARGV[2] .. seq .. '${PURGED_TAIL}')
  if now - born <= tonumber(ARGV[7]) then return {seq} end
  return {seq, redis.call('ZRANGE', KEYS[3], 0, -1)}
`;

/**
 * KEYS: head, log. ARGV: a place, and the name of a store that has none. Answers the end, up to
 * where was dropped, records behind the place, and the name.
 */
const READ = `
  ${NAME_LIFE}
  local life = nameLife(ARGV[2])
  local last = redis.call('HGET', KEYS[1], 'seq') or '0'
  local dropped = redis.call('HGET', KEYS[1], 'dropped') or '0'
  if redis.call('ZCARD', KEYS[2]) == 0 then dropped = last end
  return {last, dropped, redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf'), life}
`;

/** Makes the purge log over a connection that others use too. */
export function createRedisPurgeLog(options: PurgeLogOptions): PurgeLog {
  const { connection, channel, fence, reader, clock } = options;

  async function append(order: PurgeOrder): Promise<Done<PurgeRecord>> {
    const at = clock.now();
    const sent = [encodePurge(order, at), purgedHead(reader), channel.name];
    const done = await connection.run(HEAD_KEY, async (redis) => {
      const keys = [HEAD_KEY, LOG_KEY, READERS_KEY];
      const stay = [PURGE_KEPT_MS, PURGES_MAX];
      const reply = redis.eval(APPEND, 3, ...keys, ...sent, ...stay, randomUUID(), TRUST_MS);
      return readAppended(await reply);
    });
    if (done.state === 'unavailable') return done;
    const { seq, readers } = done.value;
    // Right after a change of servers some may still trust the one from before.
    const isCertain = connection.settledForMs(HEAD_KEY) > TRUST_MS;
    await fence.wait(seq, isCertain ? readers : null);
    return { state: 'done', value: { ...order, seq, at } };
  }

  async function readAfter(seq: number): Promise<Done<PurgeNews>> {
    const done = await connection.run(HEAD_KEY, (redis) =>
      redis.eval(READ, 2, HEAD_KEY, LOG_KEY, seq, randomUUID()),
    );
    return done.state === 'unavailable' ? done : { state: 'done', value: readNews(done.value) };
  }

  return {
    append,
    readAfter,
    isCaughtUp: (seq) => channel.isTrusted() && channel.logEnd() === seq,
    life: channel.logLife,
    onNews: fence.onNews,
  };
}

function readAppended(reply: unknown): { seq: number; readers: readonly string[] | null } {
  const [seq, readers] = asList(reply);
  return { seq: Number(seq), readers: Array.isArray(readers) ? readers.map(String) : null };
}

function readNews(reply: unknown): PurgeNews {
  const [end, droppedTo, records, life] = asList(reply);
  return {
    end: Number(end),
    droppedTo: Number(droppedTo),
    records: asList(records).map((text) => readRecord(String(text))),
    life: String(life),
  };
}

/** A member is the place, a space, and the order. */
function readRecord(member: string): PurgeRecord {
  const space = member.indexOf(' ');
  return decodePurge(Number(member.slice(0, space)), member.slice(space + 1));
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
