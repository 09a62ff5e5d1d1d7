// What happens to a lease in Redis, each in one step: only who holds the token may renew or end it.

/** How long a lease is held without a renewal: how soon a dead holder is found out. */
export const LEASE_MS = 2_000;
export const RENEW_EVERY_MS = 500;

/** ARGV: token, time. Answers whose it is and for how long: the own token, or the holder's. */
export const ENTER = `
  local holder = redis.call('GET', KEYS[1])
  if holder then return {holder, redis.call('PTTL', KEYS[1])} end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return {ARGV[1], ARGV[2]}
`;

/** ARGV: token, time. Answers 1 when it is held on. */
export const RENEW = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** ARGV: token, channel, message. Answers 1 when it was held, and everybody has been told. */
export const RELEASE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[2], ARGV[3])
  return 1
`;

/** ARGV: token. Answers how long the holder still has; 0: it is not the holder any more. */
export const WATCH = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  return redis.call('PTTL', KEYS[1])
`;

/** The key of a lease; the tag keeps it in the slot of the entry. */
export function leaseKey(key: string): string {
  return `lease:{${key}}`;
}
