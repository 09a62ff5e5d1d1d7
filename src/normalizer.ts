// The library, `edge-gateway/normalizer`: the decision core without the server, for crawlers'
// seen-sets: the same code that makes the gateway's keys. Creating one reads the built-in list from
// the package; normalizing does no I/O at all.
import { createHasher } from './adapters/xxhash/create-hasher.ts';
import { compileNormalization, type NormalizationLevels } from './config/compile-normalization.ts';
import { loadDefaults } from './config/load-defaults.ts';
import { createDecider } from './core/decision/create-decider.ts';
import { LIMITS } from './core/limits.ts';
import { resolveLink } from './core/url/resolve-link.ts';
import type { StrippedPair } from './core/url/select-pairs.ts';
import type { Trace, TraceStep } from './core/url/trace.ts';
import type { UrlErrorKind } from './core/url/url-error.ts';

export type { NormalizationLevels, StrippedPair, TraceStep, UrlErrorKind };

export interface NormalizeSuccess {
  readonly ok: true;
  /** The canonical URL: ASCII, and normalizing it again changes nothing. */
  readonly url: string;
  /** XXHash64, seed 0, of `url`: 16 lower-case hex digits. */
  readonly hash: string;
  readonly stripped: readonly StrippedPair[];
  /** The steps that changed something, in order. */
  readonly trace: readonly TraceStep[];
}

export interface NormalizeFailure {
  readonly ok: false;
  readonly error: UrlErrorKind;
}

export interface Normalizer {
  /**
   * Normalizes a URL, or a link found on a page.
   *
   * @param url absolute, or with `base` also relative (RFC 3986 §5)
   * @param base the absolute URL of the page that the link was found on
   * @returns the canonical URL, or one named error; never throws
   */
  readonly normalize: (url: string, base?: string) => NormalizeSuccess | NormalizeFailure;
}

/**
 * Creates a normalizer.
 *
 * @param options `tracking_params` and `normalization` blocks as in the YAML configuration
 * @throws {TypeError} naming every option that is not valid
 */
export async function createNormalizer(
  options: NonNullable<NormalizationLevels['global']> = {},
): Promise<Normalizer> {
  const compiled = compileNormalization({ global: options });
  if (!compiled.ok) throw new TypeError(compiled.error.join('\n'));
  const hasher = await createHasher();
  const limits = { urlBytesMax: LIMITS.urlBytesMax, paramsMax: LIMITS.paramsMax };
  const global = { ...loadDefaults().global, ...compiled.value };
  const decider = createDecider({ limits, global, hosts: [] }, hasher.text);
  return {
    normalize: (url, base) => {
      const resolved =
        base === undefined ? { ok: true as const, value: url } : resolveLink(url, base);
      if (!resolved.ok) return { ok: false, error: resolved.error };
      const trace: Trace = [];
      const decision = decider.decide(
        { url: resolved.value, method: 'GET', userAgent: '', hasAuthorization: false },
        trace,
      );
      if (decision.error !== null) return { ok: false, error: decision.error };
      const { normalized, hash, stripped } = decision;
      return { ok: true, url: normalized, hash, stripped, trace };
    },
  };
}
