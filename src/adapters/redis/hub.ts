// The keys that all processes share beside the entries. One hash tag: in a Cluster one server, the
// hub, has them all. Messages are published there and subscribed to there, so that an answer of the
// hub proves that all it published before has been received.

/**
 * Hash: `seq`, the last place given; `dropped`, the last forgotten; `life`, the store's own id, and
 * `born`, when it got that.
 */
export const HEAD_KEY = '{purges}:head';
/** Sorted set: records by place. */
export const LOG_KEY = '{purges}:log';
/** Sorted set: processes that trust their memory, by the time until when they may. */
export const READERS_KEY = '{purges}:readers';

/**
 * Part of scripts: names a store that has no name, the head being the first key. A full memory
 * refuses that, and then it has none yet.
 */
export const NAME_LIFE = `
  local function nameLife(id)
    local life = redis.call('HGET', KEYS[1], 'life')
    if life then return life end
    local time = redis.call('TIME')
    local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
    redis.pcall('HSET', KEYS[1], 'life', id, 'born', now)
    return redis.call('HGET', KEYS[1], 'life') or ''
  end
`;
