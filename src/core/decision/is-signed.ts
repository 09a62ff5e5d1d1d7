// Whether a URL is signed, asked of names that were read already: nearly none can be part of one.
import type { NormalizationPolicy } from '../policy/policy.ts';
import { pairsUnder } from '../url/read-pairs.ts';
import type { ParsedUrl } from '../url/read-url.ts';
import { findSignature } from '../url/signed-url.ts';

export function isSigned({ search }: ParsedUrl, policy: NormalizationPolicy): boolean {
  if (policy.signedUrls === 'ignore') return false;
  if (policy.signedParams.length === 0 && !search.isTelling) return false;
  const names = pairsUnder(search, policy).map(({ name }) => name.text);
  return findSignature(names, policy) !== null;
}
