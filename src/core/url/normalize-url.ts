// The conductor: spec url-and-key, steps 5–8, for one effective policy. Total and pure: what was
// read gives one URL or one named error.
import type { FindLearned, LearnedRule } from '../learned/learned-rule.ts';
import type {
  DroppedPair,
  EffectivePolicy,
  NormalizationPolicy,
  StrippedPair,
  UrlLimits,
} from '../policy/policy.ts';
import { err, ok, type Result } from '../result.ts';
import { findRunEnd, formatQuery, type QuerySource } from './format-query.ts';
import { applyHostAlias } from './host-alias.ts';
import { applyPathOptions, resolvePath } from './normalize-path.ts';
import { pairsUnder, type QueryPair } from './read-pairs.ts';
import { makeSite } from './read-site.ts';
import type { ParsedUrl } from './read-url.ts';
import {
  dropDefaultValues,
  dropEmptyPairs,
  dropLearned,
  listDropped,
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
  readonly dropped: readonly DroppedPair[];
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
  const { pairs, stripped, dropped } = selectPairs(parsed, policy, learned, trace);
  const { query, url } = writeUrl(parsed, pairs, options, { address, isAsWritten });
  // Encoding can lengthen a URL; one that could not be normalized again is too long now.
  if (url.length > limits.urlBytesMax) return err('too_long');
  return ok({ url, host, path, query, stripped, dropped, learned });
}

interface Head {
  /** Everything before the query. */
  readonly address: string;
  /** Whether the text begins with it. */
  readonly isAsWritten: boolean;
}

function writeUrl(
  parsed: ParsedUrl,
  pairs: readonly QueryPair[],
  options: NormalizationPolicy,
  { address, isAsWritten }: Head,
): Pick<NormalizedUrl, 'query' | 'url'> {
  const { text, queryAt, isAscii } = parsed;
  const runEnd = isAsWritten && isAscii ? findRunEnd(pairs, queryAt, options) : -1;
  const query = runEnd === -1 ? formatQuery(parsed, pairs, options) : text.slice(queryAt, runEnd);
  if (query === '') return { query, url: address };
  return { query, url: runEnd === -1 ? `${address}?${query}` : text.slice(0, runEnd) };
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
  readonly dropped: readonly DroppedPair[];
}

const NOTHING_SELECTED: SelectedPairs = { pairs: [], stripped: [], dropped: [] };
const NOTHING_DROPPED: readonly DroppedPair[] = [];

function selectPairs(
  parsed: ParsedUrl,
  policy: EffectivePolicy,
  learned: LearnedRule | null,
  trace: Trace | null,
): SelectedPairs {
  const { bytes, query, search } = parsed;
  if (search.pairs.length === 0) return NOTHING_SELECTED;
  const options = policy.normalization;
  const pairs = pairsUnder(search, options);
  const show = trace && showPairs(parsed, options, trace);
  if (trace !== null)
    recordStep(trace, 'query_encoding', query, formatQuery(parsed, pairs, options));
  const { kept, stripped } = stripPairs(pairs, policy.tracking);
  show?.('strip', pairs, kept);
  const mattering = learned === null ? null : dropLearned(kept, learned);
  const remaining = mattering?.kept ?? kept;
  show?.('learned', kept, remaining);
  const distinct = dropDefaultValues(bytes, remaining, options);
  show?.('default_values', remaining, distinct);
  const filled = search.isFull ? distinct : dropEmptyPairs(distinct, options);
  show?.('empty_values', distinct, filled);
  const isSorted = options.sortQuery || learned?.variance.ignoresOrder === true;
  const sorted = isSorted ? sortPairs(filled) : filled;
  show?.('sort', filled, sorted);
  return {
    pairs: sorted,
    stripped: mattering === null ? stripped : [...stripped, ...mattering.stripped],
    dropped:
      filled.length === remaining.length
        ? NOTHING_DROPPED
        : [
            ...listDropped(remaining, distinct, 'default_value'),
            ...listDropped(distinct, filled, 'empty_value'),
          ],
  };
}

type PairsView = (step: string, before: readonly QueryPair[], after: readonly QueryPair[]) => void;

function showPairs(source: QuerySource, options: NormalizationPolicy, trace: Trace): PairsView {
  return (step, before, after) => {
    if (before === after) return;
    recordStep(
      trace,
      step,
      formatQuery(source, before, options),
      formatQuery(source, after, options),
    );
  };
}
