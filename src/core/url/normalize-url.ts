// The conductor: spec url-and-key, steps 4–8, for one effective policy. Total and pure: any text
// gives one URL or one named error.
import type { FindLearned, LearnedRule } from '../learned/learned-rule.ts';
import type { EffectivePolicy, UrlLimits } from '../policy/policy.ts';
import { err, ok, type Result } from '../result.ts';
import { encodePathText } from './encode-path.ts';
import { formatQuery } from './format-query.ts';
import { applyHostAlias } from './host-alias.ts';
import { type Authority, normalizeAuthority } from './normalize-authority.ts';
import { applyPathOptions, resolvePath } from './normalize-path.ts';
import type { QueryPair } from './parse-query.ts';
import {
  dropDefaultValues,
  dropEmptyPairs,
  dropLearned,
  type StrippedPair,
  sortPairs,
  stripPairs,
} from './select-pairs.ts';
import { exceedsBytes, splitUrl } from './split-url.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

/** A URL whose components have one spelling, before any policy was applied. */
export interface ParsedUrl {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: string;
  /** Encoded, slashes and dots as they came. */
  readonly encodedPath: string;
  /** The path rules are chosen on. */
  readonly rulePath: string;
  readonly query: string;
}

export interface NormalizedUrl {
  readonly url: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly stripped: readonly StrippedPair[];
  /** What the origin has said about this path, where the policy listens to it. */
  readonly learned: LearnedRule | null;
}

/** A URL with the pairs of its query, as the policy reads them (see parseQuery). */
export interface ReadUrl {
  readonly parsed: ParsedUrl;
  readonly pairs: readonly QueryPair[];
}

export interface NormalizeContext {
  readonly limits: UrlLimits;
  /** Of the URL's host; null: nothing is learned there. */
  readonly findLearned: FindLearned | null;
  readonly trace: Trace | null;
}

/** Steps 1–5: what does not depend on the policy. */
export function parseUrl(
  input: string,
  limits: UrlLimits,
  trace: Trace | null,
): Result<ParsedUrl, UrlErrorKind> {
  const split = splitUrl(input, limits, trace);
  if (!split.ok) return split;
  const { scheme, authority, path, query } = split.value;
  const named: Result<Authority, UrlErrorKind> = normalizeAuthority(authority, scheme, trace);
  if (!named.ok) return named;
  const encodedPath = encodePathText(path);
  recordStep(trace, 'path_encoding', path, encodedPath);
  const rulePath = resolvePath(encodedPath);
  recordStep(trace, 'path', encodedPath, rulePath);
  return ok({ scheme, ...named.value, encodedPath, rulePath, query });
}

/** Steps 5–8 under the policy of the chosen rule. */
export function applyPolicy(
  { parsed, pairs }: ReadUrl,
  policy: EffectivePolicy,
  { limits, findLearned, trace }: NormalizeContext,
): Result<NormalizedUrl, UrlErrorKind> {
  const options = policy.normalization;
  const host = applyHostAlias(parsed.host, options);
  recordStep(trace, 'host_alias', parsed.host, host);
  const resolved = options.collapseSlashes
    ? parsed.rulePath
    : resolvePath(parsed.encodedPath, false);
  recordStep(trace, 'keep_slashes', parsed.rulePath, resolved);
  const path = applyPathOptions(resolved, options);
  recordStep(trace, 'path_options', resolved, path);
  const port = parsed.port === '' ? '' : `:${parsed.port}`;
  const address = `${parsed.scheme}://${host}${port}${path}`;
  const isLearning = findLearned !== null && options.noVarySearch === 'learn';
  const learned = isLearning ? findLearned(address) : null;
  recordStep(
    trace,
    'query_encoding',
    parsed.query,
    trace === null ? '' : formatQuery(pairs, options),
  );
  const { query, stripped } = selectQuery(pairs, policy, learned, trace);
  const url = query === '' ? address : `${address}?${query}`;
  // Encoding can lengthen a URL; one that could not be normalized again is too long now.
  if (exceedsBytes(url, limits.urlBytesMax)) return err('too_long');
  return ok({ url, host, path, query, stripped, learned });
}

interface SelectedQuery {
  readonly query: string;
  readonly stripped: readonly StrippedPair[];
}

const NOTHING_SELECTED: SelectedQuery = { query: '', stripped: [] };

function selectQuery(
  pairs: readonly QueryPair[],
  policy: EffectivePolicy,
  learned: LearnedRule | null,
  trace: Trace | null,
): SelectedQuery {
  if (pairs.length === 0) return NOTHING_SELECTED;
  const options = policy.normalization;
  const show = (step: string, before: readonly QueryPair[], after: readonly QueryPair[]): void => {
    if (trace === null || before === after) return;
    recordStep(trace, step, formatQuery(before, options), formatQuery(after, options));
  };
  const { kept, stripped } = stripPairs(pairs, policy.tracking);
  show('strip', pairs, kept);
  const mattering = dropLearned(kept, learned);
  show('learned', kept, mattering.kept);
  const distinct = dropDefaultValues(mattering.kept, options);
  show('default_values', mattering.kept, distinct);
  const filled = dropEmptyPairs(distinct, options);
  show('empty_values', distinct, filled);
  const isSorted = options.sortQuery || learned?.variance.ignoresOrder === true;
  const sorted = isSorted ? sortPairs(filled) : filled;
  show('sort', filled, sorted);
  const dropped = learned === null ? stripped : [...stripped, ...mattering.stripped];
  return { query: formatQuery(sorted, options), stripped: dropped };
}
