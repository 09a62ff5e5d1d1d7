// The cache key and the body file name, as text and back. spec: url-and-key, "The cache key".
// Parsing accepts exactly what formatting writes, so that text from outside can never name another
// entry or leave the store's folder.
import type { BodyRef, CacheKey } from './entry.ts';

const CACHE_KEY = /^cache:([1-9]\d{0,9}):(0|[1-9]\d{0,9}):([0-9a-f]{16})$/;
const HASH = /^[0-9a-f]{16}$/;

/** The built-in dimension `bypass`: of what is not rendered. */
export const BYPASS_DIMENSION_ID = 0;

/** Largest host or dimension id that a key can carry. */
const ID_MAX = 9_999_999_999;

/** Formats the store key of one page of one dimension of a host. */
export function formatCacheKey(ref: BodyRef): CacheKey {
  assertBodyRef(ref);
  const { hostId, dimensionId, hash } = ref;
  return `cache:${hostId}:${dimensionId}:${hash}`;
}

/** Parses a store key; null for anything that `formatCacheKey` would not have written. */
export function parseCacheKey(text: string): BodyRef | null {
  const match = CACHE_KEY.exec(text);
  const [, hostId, dimensionId, hash] = match ?? [];
  if (hostId === undefined || dimensionId === undefined || hash === undefined) return null;
  return { hostId: Number(hostId), dimensionId: Number(dimensionId), hash };
}

/** Formats what all keys of a host, or of one dimension of it, begin with. */
export function formatCacheKeyPrefix(hostId: number, dimensionId?: number): string {
  assertBodyRef({ hostId, dimensionId: dimensionId ?? 0, hash: '0'.repeat(16) });
  return dimensionId === undefined ? `cache:${hostId}:` : `cache:${hostId}:${dimensionId}:`;
}

/** Formats the name of the identity body's file: `<hash>_<dimension_id>.html`. */
export function bodyFileName(ref: Pick<BodyRef, 'hash' | 'dimensionId'>): string {
  assertBodyRef({ hostId: 1, ...ref });
  return `${ref.hash}_${ref.dimensionId}.html`;
}

/** Whether the text is an XXHash64 as the Hasher port writes it. */
export function isHash(text: unknown): text is string {
  return typeof text === 'string' && HASH.test(text);
}

/** Whether the value can be the id of a host. */
export function isHostId(value: unknown): value is number {
  return isDimensionId(value) && value > 0;
}

/** Whether the value can be the id of a dimension; 0 is the built-in `bypass`. */
export function isDimensionId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= ID_MAX;
}

function assertBodyRef({ hostId, dimensionId, hash }: BodyRef): void {
  if (!isHostId(hostId) || !isDimensionId(dimensionId) || !isHash(hash)) {
    throw new RangeError(`not a page reference: ${JSON.stringify({ hostId, dimensionId, hash })}`);
  }
}
