// What those share who read and write bodies in Redis: what they need, and where a page's are.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import type { BodyRef, Hasher } from '../../pipeline/ports.ts';
import type { RedisConnection } from './connection/redis-connection.ts';

export interface RedisBodyStoreOptions {
  /** Not that of the metadata, which would wait behind the bodies. */
  readonly connection: RedisConnection;
  readonly hasher: Hasher;
  /** Largest body: what is larger was never a page. */
  readonly bytesMax: number;
}

/** The tag keeps it in the slot of the entry. */
export function bodyKey(ref: BodyRef): string {
  return `body:{${formatCacheKey(ref)}}`;
}
