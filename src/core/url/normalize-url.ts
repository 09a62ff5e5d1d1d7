// The conductor: spec url-and-key, steps 5–8, for one effective policy. Total and pure: what was
// read gives one URL or one named error.
import type { FindLearned, LearnedRule } from '../learned/learned-rule.ts';
import type {
  EffectivePolicy,
  NormalizationPolicy,
  StrippedPair,
  UrlLimits,
} from '../policy/policy.ts';
import { err, ok, type Result } from '../result.ts';
import { findRunEnd, formatQuery } from './format-query.ts';
import { applyHostAlias } from './host-alias.ts';
import { applyPathOptions, resolvePath } from './normalize-path.ts';
import { pairsUnder, type QueryPair } from './read-pairs.ts';
import { makeSite } from './read-site.ts';
import type { ParsedUrl } from './read-url.ts';
import {
  dropDefaultValues,
  dropEmptyPairs,
  dropLearned,
  sortPairs,
  stripPairs,
} from './select-pairs.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

export interface NormalizedUrl {
  readonly url: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly stripped: readonly StrippedPair[];
  /** What the origin has said about this path, where the policy listens to it. */
  readonly learned: LearnedRule | null;
}

export interface NormalizeContext {
  readonly limits: UrlLimits;
  /** Of the URL's host; null: nothing is learned there. */
  readonly findLearned: FindLearned | null;
  readonly trace: Trace | null;
}

/** Steps 5–8 under the policy of the chosen rule. */
export function applyPolicy(
  parsed: ParsedUrl,
  policy: EffectivePolicy,
  { limits, findLearned, trace }: NormalizeContext,
): Result<NormalizedUrl, UrlErrorKind> {
  const options = policy.normalization;
  const { site } = parsed.place;
  const host = applyHostAlias(site.host, options);
  recordStep(trace, 'host_alias', site.host, host);
  const path = choosePath(parsed, policy, trace);
  const isAsWritten = parsed.isAsWritten && path === parsed.rulePath && host === site.host;
  const address = isAsWritten
    ? parsed.text.slice(0, parsed.queryAt - 1)
    : `${host === site.host ? site.prefix : makeSite(site.scheme, host, site.port).prefix}${path}`;
  const isLearning = findLearned !== null && options.noVarySearch === 'learn';
  const learned = isLearning ? findLearned(address) : null;
  const { pairs, stripped } = selectPairs(parsed, policy, learned, trace);
  const runEnd = findRunEnd(pairs, parsed.queryAt, options);
  const query =
    runEnd === -1
      ? formatQuery(parsed.text, pairs, options)
      : parsed.text.slice(parsed.queryAt, runEnd);
  const url = joinQuery(parsed, address, query, isAsWritten && runEnd !== -1);
  // Encoding can lengthen a URL; one that could not be normalized again is too long now.
  if (url.length > limits.urlBytesMax) return err('too_long');
  return ok({ url, host, path, query, stripped, learned });
}

function joinQuery(
  { text, queryAt }: ParsedUrl,
  address: string,
  query: string,
  isPrefix: boolean,
): string {
  if (query === '') return address;
  return isPrefix ? text.slice(0, queryAt + query.length) : `${address}?${query}`;
}

function choosePath(
  { rulePath, encodedPath }: ParsedUrl,
  { normalization }: EffectivePolicy,
  trace: Trace | null,
): string {
  const resolved = normalization.collapseSlashes ? rulePath : resolvePath(encodedPath, false);
  recordStep(trace, 'keep_slashes', rulePath, resolved);
  const path = applyPathOptions(resolved, normalization);
  recordStep(trace, 'path_options', resolved, path);
  return path;
}

interface SelectedPairs {
  readonly pairs: readonly QueryPair[];
  readonly stripped: readonly StrippedPair[];
}

const NOTHING_SELECTED: SelectedPairs = { pairs: [], stripped: [] };

function selectPairs(
  parsed: ParsedUrl,
  policy: EffectivePolicy,
  learned: LearnedRule | null,
  trace: Trace | null,
): SelectedPairs {
  const { text, query, search } = parsed;
  if (search.pairs.length === 0) return NOTHING_SELECTED;
  const options = policy.normalization;
  const pairs = pairsUnder(search, options);
  const show = trace && showPairs(text, options, trace);
  if (trace !== null) recordStep(trace, 'query_encoding', query, formatQuery(text, pairs, options));
  const { kept, stripped } = stripPairs(pairs, policy.tracking);
  show?.('strip', pairs, kept);
  const mattering = learned === null ? null : dropLearned(kept, learned);
  const remaining = mattering?.kept ?? kept;
  show?.('learned', kept, remaining);
  const distinct = dropDefaultValues(text, remaining, options);
  show?.('default_values', remaining, distinct);
  const filled = search.isFull ? distinct : dropEmptyPairs(distinct, options);
  show?.('empty_values', distinct, filled);
  const isSorted = options.sortQuery || learned?.variance.ignoresOrder === true;
  const sorted = isSorted ? sortPairs(filled) : filled;
  show?.('sort', filled, sorted);
  const dropped = mattering === null ? stripped : [...stripped, ...mattering.stripped];
  return { pairs: sorted, stripped: dropped };
}

type PairsView = (step: string, before: readonly QueryPair[], after: readonly QueryPair[]) => void;

function showPairs(text: string, options: NormalizationPolicy, trace: Trace): PairsView {
  return (step, before, after) => {
    recordStep(trace, step, formatQuery(text, before, options), formatQuery(text, after, options));
  };
}
