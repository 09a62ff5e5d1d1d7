// A signed URL is valid only byte for byte, and its page may be meant for one person: such a
// request is passed to the origin raw and never stored. spec: url-and-key, `signed_urls`.
import { foldCase } from '../pattern/fold-case.ts';
import type { NormalizationPolicy } from '../policy/policy.ts';
import { pairName, type QueryPair } from './parse-query.ts';

/** Sets of parameter names, lower-case; a URL that has every name of one set is signed. */
const SIGNATURES: readonly (readonly string[])[] = [
  ['x-amz-signature'],
  ['x-goog-signature'],
  ['x-oss-signature'],
  ['x-cos-signature'],
  ['q-signature'],
  ['sig', 'se'],
  ['signature', 'key-pair-id'],
  ['signature', 'expires'],
  ['signature', 'awsaccesskeyid'],
  ['signature', 'googleaccessid'],
  ['signature', 'ossaccesskeyid'],
  ['policy', 'signature'],
  ['hdnea'],
  ['hdnts'],
  ['hdntl'],
  ['__gda__'],
  ['md5', 'expires'],
  ['token', 'expires'],
];

/** Names that are part of a signature; most URLs have none of them. */
const TELLING: ReadonlySet<string> = new Set(SIGNATURES.flat());

/** Every signature has one of these in it; a `%` may hide one. Nearly no URL does. */
const MAY_BE_SIGNED = /sig|hdn|__gda__|md5|token|%/i;

/**
 * The names that make the URL signed, or null. Names are compared decoded, ignoring case.
 *
 * @param query what the pairs were read from
 */
export function findSignature(
  query: string,
  pairs: readonly QueryPair[],
  policy: NormalizationPolicy,
): readonly string[] | null {
  if (policy.signedUrls === 'ignore' || pairs.length === 0) return null;
  if (policy.signedParams.length === 0 && !MAY_BE_SIGNED.test(query)) return null;
  const extras = policy.signedParams.map(foldCase);
  const names: string[] = [];
  for (const pair of pairs) {
    const name = foldCase(pairName(pair));
    if (extras.includes(name)) return [name];
    if (TELLING.has(name)) names.push(name);
  }
  if (names.length === 0) return null;
  return SIGNATURES.find((signature) => signature.every((name) => names.includes(name))) ?? null;
}
