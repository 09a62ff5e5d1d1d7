// Which stored coding a client gets (RFC 9110 §12.5.3). Highest q-value wins; ties go to the
// smaller body. Where nothing fits, the field is disregarded and identity goes out (§12.4.1): a
// page in the wrong coding helps nobody, and neither does a 406.
import type { ContentCoding } from '../key/entry.ts';

/** Best first, when the client likes them equally. */
const PREFERENCE: readonly ContentCoding[] = ['br', 'gzip', 'identity'];
/** An identity that wasn't named is allowed, but is nobody's wish. */
const UNNAMED_IDENTITY_Q = 0.0001;

/**
 * Chooses among the codings a page is stored in.
 *
 * @param acceptEncoding the field's lines joined by commas; null when the client sent none
 * @param httpVersion `1.0` clients get identity
 */
export function negotiateEncoding(
  acceptEncoding: string | null,
  httpVersion: string,
  available: readonly ContentCoding[],
): ContentCoding {
  if (acceptEncoding === null || httpVersion === '1.0' || httpVersion === '0.9') return 'identity';
  const weights = parseWeights(acceptEncoding);
  let best: ContentCoding = 'identity';
  let bestQ = 0;
  for (const coding of PREFERENCE) {
    if (!available.includes(coding)) continue;
    const q = weightOf(coding, weights);
    if (q > bestQ) [best, bestQ] = [coding, q];
  }
  return best;
}

/** What could be chosen, best first, whatever a page is stored in: `identity` comes last. */
export function rankEncodings(acceptEncoding: string | null, httpVersion: string): ContentCoding[] {
  const ranked: ContentCoding[] = [];
  do {
    const left = PREFERENCE.filter((coding) => !ranked.includes(coding));
    ranked.push(negotiateEncoding(acceptEncoding, httpVersion, left));
  } while (ranked.at(-1) !== 'identity');
  return ranked;
}

function weightOf(coding: ContentCoding, weights: ReadonlyMap<string, number>): number {
  const named = weights.get(coding) ?? weights.get('*');
  return named ?? (coding === 'identity' ? UNNAMED_IDENTITY_Q : 0);
}

function parseWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    const q = parseQ(parameters);
    if (coding === '' || q === null) continue;
    const name = coding === 'x-gzip' ? 'gzip' : coding;
    if (!weights.has(name)) weights.set(name, q);
  }
  return weights;
}

/** The q-value; 1 without one, null for one that is none (that member then says nothing). */
function parseQ(parameters: readonly string[]): number | null {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  const digits = weight.slice(2);
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(digits) ? Number(digits) : null;
}
