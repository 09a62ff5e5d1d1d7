// Reads a body while its metadata is on its way too, so that a page takes one round trip. What came
// is compared with what the metadata then says; where it is another version, it is read once more.
import type { BodyStore, ContentCoding } from '../../pipeline/ports.ts';
import { bodyKey, type RedisBodyStoreOptions } from './redis-bodies.ts';

/**
 * ARGV: largest length, then codings. Answers name and bytes of the first that is kept, unless it
 * is too large.
 */
const READ_FIRST = `
  for i = 2, #ARGV do
    if redis.call('HEXISTS', KEYS[1], ARGV[i]) == 1 then
      if redis.call('HSTRLEN', KEYS[1], ARGV[i]) > tonumber(ARGV[1]) then return nil end
      return {ARGV[i], redis.call('HGET', KEYS[1], ARGV[i])}
    end
  end
  return nil
`;

interface Came {
  readonly coding: string;
  readonly bytes: Buffer;
}

/**
 * Makes the reader.
 *
 * @param read for what did not come
 */
export function createReadAhead(
  { connection, hasher, bytesMax }: RedisBodyStoreOptions,
  read: BodyStore['read'],
): BodyStore['readAhead'] {
  const running = new Map<string, Promise<Came | null>>();

  async function readFirst(key: string, codings: readonly ContentCoding[]): Promise<Came | null> {
    const done = await connection.run(key, (redis) =>
      redis.callBuffer('EVAL', READ_FIRST, 1, key, bytesMax, ...codings),
    );
    if (done.state === 'unavailable' || !Array.isArray(done.value)) return null;
    const [coding, bytes] = done.value;
    return Buffer.isBuffer(bytes) ? { coding: String(coding), bytes } : null;
  }

  return (ref, codings) => {
    const key = bodyKey(ref);
    const name = `${key} ${codings.join(' ')}`;
    // Whoever asks for the same while it is on its way gets it too.
    const coming = running.get(name) ?? readFirst(key, codings).finally(() => running.delete(name));
    running.set(name, coming);
    return async (coding, digests) => {
      const came = await coming;
      const digest = digests[coding];
      const isIt =
        came?.coding === coding &&
        came.bytes.length === digest?.bytes &&
        hasher.bytes(came.bytes) === digest.hash;
      return isIt ? { state: 'found', value: came.bytes } : await read(ref, coding, digests);
    };
  };
}
