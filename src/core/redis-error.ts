// One short word for what went wrong with Redis. Messages are never passed on: a server's complaint
// about an unknown command quotes its arguments, and with AUTH those are the password.

/** No answer within the time a caller waits. */
export class RedisTimeoutError extends Error {}

/** There is no connection that could be asked. */
export class RedisLostError extends Error {}

/** Names a Redis or connection error: `timeout`, `disconnected`, `oom`, `noauth` and so on. */
export function describeRedisError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'ReplyError') {
    const word = /^[A-Z]{2,20}(?= |$)/.exec(error.message)?.[0] ?? 'ERR';
    return word.toLowerCase();
  }
  if ('code' in error && typeof error.code === 'string') return error.code.toLowerCase();
  if (error instanceof RedisTimeoutError || error.message === 'Command timed out') return 'timeout';
  return 'disconnected';
}
