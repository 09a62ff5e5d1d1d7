// Which version of an entry is stored: the hash of its bytes, compared where they are, so that
// deleting what was looked at never hits what has come since.
import { createHash } from 'node:crypto';
import { ENTRY_CHARS_MAX } from '../../core/key/entry-codec.ts';
import type { CacheKey, Done } from '../../pipeline/ports.ts';
import type { Announcer } from './announce.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

/** No more of a value is looked at, so that an enormous one is no outage; 2 bytes a character. */
export const ENTRY_BYTES_MAX = 2 * ENTRY_CHARS_MAX;

/** The version of what is no string. */
export const WRONG_TYPE = 'wrong_type';

const REMOVE = `
  local version = '${WRONG_TYPE}'
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'none' then return 0 end
  if kind == 'string' then
    version = redis.sha1hex(redis.call('GETRANGE', KEYS[1], 0, ${ENTRY_BYTES_MAX}))
  end
  if version ~= ARGV[1] then return 0 end
  return redis.call('UNLINK', KEYS[1])
`;

/** Of bytes as they are stored, or of a text. */
export function versionOf(value: Buffer | string): string {
  return createHash('sha1').update(value).digest('hex');
}

/** Removes this version and tells every process; says whether it was there. */
export async function removeVersion(
  key: CacheKey,
  version: string,
  announcer: Announcer,
): Promise<Done<boolean>> {
  const done = await announcer.change(key, (redis) => redis.eval(REMOVE, 1, key, version));
  return done.state === 'unavailable' ? done : { state: 'done', value: done.value === 1 };
}

/** Removes what is stored if it is as meant; bytes that are no text are compared as bytes. */
export async function removeMeant(
  key: CacheKey,
  isMeant: (text: string) => boolean,
  {
    connection,
    announcer,
  }: { readonly connection: RedisConnection; readonly announcer: Announcer },
): Promise<Done<boolean>> {
  const stored = await connection.run(key, (redis) =>
    redis.getrangeBuffer(key, 0, ENTRY_BYTES_MAX),
  );
  if (stored.state === 'unavailable') return stored;
  return isMeant(stored.value.toString())
    ? await removeVersion(key, versionOf(stored.value), announcer)
    : { state: 'done', value: false };
}
