// A signed URL is valid only byte for byte, and its page may be meant for one person: such a
// request is passed to the origin raw and never stored. spec: url-and-key, `signed_urls`.
import { foldCase } from '../pattern/fold-case.ts';
import type { NormalizationPolicy } from '../policy/policy.ts';

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

/** Names that are part of a signature, without case; most URLs have none of them. */
export const TELLING: ReadonlySet<string> = new Set(SIGNATURES.flat());

/**
 * The names that make the URL signed, or null. Names are compared decoded, ignoring case.
 *
 * @param names of all parameters
 */
export function findSignature(
  names: readonly string[],
  { signedParams }: Pick<NormalizationPolicy, 'signedParams'>,
): readonly string[] | null {
  const extras = signedParams.map(foldCase);
  const telling: string[] = [];
  for (const written of names) {
    const name = foldCase(written);
    if (extras.includes(name)) return [name];
    if (TELLING.has(name)) telling.push(name);
  }
  return SIGNATURES.find((signature) => signature.every((name) => telling.includes(name))) ?? null;
}
