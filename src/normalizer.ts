// The library, `edge-gateway/normalizer`: the decision core without the server, for crawlers'
// seen-sets: the same code that makes the gateway's keys. Creating one reads the built-in list from
// the package; normalizing does no I/O at all.
import { createHasher } from './adapters/xxhash/create-hasher.ts';
import { compileNormalization } from './config/compile-normalization.ts';
import { loadDefaults } from './config/load-defaults.ts';
import { createDecider } from './core/decision/create-decider.ts';
import { questionAbout } from './core/decision/decision.ts';
import { LIMITS } from './core/limits.ts';
import type { StrippedPair } from './core/policy/policy.ts';
import { err, ok, type Result } from './core/result.ts';
import { resolveLink } from './core/url/resolve-link.ts';
import type { Trace, TraceStep } from './core/url/trace.ts';
import type { UrlErrorKind } from './core/url/url-error.ts';

export type { StrippedPair, TraceStep, UrlErrorKind };

/** The two blocks of the YAML configuration that say what makes two URLs one page. */
export interface NormalizerOptions {
  readonly tracking_params?: {
    /** `false`: no parameter is stripped. */
    readonly strip?: boolean;
    /** Replaces the built-in list. */
    readonly params?: readonly string[];
    readonly params_add?: readonly string[];
    readonly params_remove?: readonly string[];
    /** Allow-list: every other parameter is dropped. */
    readonly params_keep?: readonly string[];
    readonly presets?: readonly string[];
  };
  readonly normalization?: {
    readonly sort_query?: boolean;
    readonly empty_values?: 'bare' | 'equals' | 'preserve' | 'drop';
    readonly plus?: 'space' | 'literal';
    /** `preserve`, with `sort_query: false`, is raw mode: kept pairs keep their bytes. */
    readonly encoding?: 'canonical' | 'preserve';
    readonly collapse_slashes?: boolean;
    readonly trailing_slash?: 'preserve' | 'add' | 'remove';
    readonly default_documents?: readonly string[];
    readonly default_values?: Readonly<Record<string, string>>;
    readonly lowercase_path?: boolean;
    readonly host_aliases?: { readonly www?: 'keep' | 'strip' | 'add' };
  };
}

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

export type NormalizeResult = NormalizeSuccess | NormalizeFailure;

export interface Normalizer {
  /**
   * Normalizes a URL, or a link found on a page.
   *
   * @param url absolute, or with `base` also relative (RFC 3986 §5), blanks around it ignored
   * @param base the absolute URL of the page that the link was found on
   * @returns the canonical URL, or one named error; never throws, whatever it is given: what is
   *   neither text nor a URL object names no host
   */
  readonly normalize: (url: string | URL, base?: string | URL) => NormalizeResult;
}

/**
 * Creates a normalizer.
 *
 * @throws {TypeError} with a line for every option that is not valid
 */
export async function createNormalizer(options: NormalizerOptions = {}): Promise<Normalizer> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError('the options must be an object: { tracking_params, normalization }');
  }
  const compiled = compileNormalization({ global: options });
  if (!compiled.ok) throw new TypeError(compiled.error.map(withoutLevel).join('\n'));
  const hasher = await createHasher();
  const limits = { urlBytesMax: LIMITS.urlBytesMax, paramsMax: LIMITS.paramsMax };
  const global = { ...loadDefaults().global, ...compiled.value };
  const decider = createDecider({ limits, global, hosts: [] }, hasher.text);
  return {
    normalize: (url, base) => {
      const resolved = resolve(url, base);
      if (!resolved.ok) return { ok: false, error: resolved.error };
      const trace: Trace = [];
      const decision = decider.decide(questionAbout(resolved.value), trace);
      if (decision.error !== null) return { ok: false, error: decision.error };
      const { normalized, hash, stripped } = decision;
      return { ok: true, url: normalized, hash, stripped, trace };
    },
  };
}

/** Crawlers hand over what they found, types or not: an href that is missing, a URL object. */
function resolve(url: unknown, base: unknown): Result<string, UrlErrorKind> {
  const text = textOf(url);
  if (text === null) return err('missing_host');
  if (base === undefined) return ok(text);
  const baseText = textOf(base);
  return baseText === null ? err('missing_host') : resolveLink(text, baseText);
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return value instanceof URL ? value.href : null;
}

/** The library has one level, so its name would say nothing. */
function withoutLevel(problem: string): string {
  return problem.replace(/^global: /, '');
}
