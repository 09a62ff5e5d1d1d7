// Where answers are kept that were passed on: dimension 0, under the hash of their URL; a variant
// under a hash of its own, which no other URL's can be taken for because entries hold both.
import { BYPASS_DIMENSION_ID, formatCacheKey } from '../../core/key/cache-key.ts';
import type { VariantIndex } from '../../core/key/entry.ts';
import type { HostPolicy } from '../../core/policy/policy.ts';
import type { BodyRef, CacheKey, Hasher, HeaderList } from '../ports.ts';

export interface ExchangePlace {
  readonly key: CacheKey;
  readonly ref: BodyRef;
}

/** @param hash of the normalized URL, or of a variant */
export function exchangePlace(host: Pick<HostPolicy, 'id'>, hash: string): ExchangePlace {
  const ref = { hostId: host.id, dimensionId: BYPASS_DIMENSION_ID, hash };
  return { key: formatCacheKey(ref), ref };
}

/** @param selecting the request fields by which it is chosen */
export function variantHash(
  url: string,
  { names, generation }: Pick<VariantIndex, 'names' | 'generation'>,
  selecting: HeaderList,
  hasher: Hasher,
): string {
  return hasher.text(JSON.stringify([url, generation, names, selecting]));
}
