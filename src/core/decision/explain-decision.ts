// A decision as the JSON that `explain` and `normalize --json` print: spec operations, one shape.
import type { BotJudgement } from '../bots/crawlers.ts';
import { whyNoPart } from '../http/shared-cache/judge-request.ts';
import type { Downstream } from '../http/tell-downstream.ts';
import { BYPASS_DIMENSION_ID, bodyFileName, formatCacheKey } from '../key/cache-key.ts';
import type { BodyRef } from '../key/entry.ts';
import type { DownstreamCache, DroppedPair, PolicyLevel, StrippedPair } from '../policy/policy.ts';
import { fieldsOf, isRecord } from '../records.ts';
import type { TraceStep } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';
import { chooseDownstream } from './choose-downstream.ts';
import type { Decision, DecisionAction, DecisionReason, KeyedDecision } from './decision.ts';

/** What the store has for the key; `unknown` when it was not asked or could not answer. */
export type CachedState = 'fresh' | 'stale' | 'absent' | 'unknown';
export interface Cached {
  readonly state: CachedState;
  /** It was not ready when it was captured. */
  readonly isPartial: boolean;
}

export const UNKNOWN_CACHED: Cached = { state: 'unknown', isPartial: false };

export type Would = 'serve' | 'refresh' | 'render' | 'bypass' | 'status';
/** What a process remembers of the last answer: for one client alone, or not small enough. */
export type UnsharedCause = 'for_one' | 'too_large';

/** Key names are the published JSON, hence snake_case. */
export interface Explanation {
  readonly input: string;
  readonly normalized: string | null;
  readonly hash: string | null;
  readonly error: UrlErrorKind | null;
  readonly host: { readonly id: number; readonly domain: string } | null;
  readonly dimension: {
    readonly id: number;
    readonly name: string;
    readonly matched_by: string | null;
  } | null;
  /** Who the client says it is, and whether its address agrees. */
  readonly bot: BotJudgement | null;
  readonly rule: {
    readonly id: string;
    readonly match: string;
    readonly action: string | null;
  } | null;
  readonly action: DecisionAction;
  readonly reason: DecisionReason;
  readonly status: number | null;
  readonly location: string | null;
  /** null: it is looked up nowhere and nothing of it is kept, as `action` and `reason` say. */
  readonly key: string | null;
  readonly file: string | null;
  readonly steps: readonly TraceStep[];
  readonly stripped: readonly StrippedPair[];
  /** What options of `normalization` left out, whether tracking parameters are stripped or not. */
  readonly dropped: readonly DroppedPair[];
  readonly tracking: {
    readonly strip: boolean;
    readonly mode: 'strip' | 'keep';
    readonly patterns: readonly { readonly pattern: string; readonly level: PolicyLevel }[];
  } | null;
  /** What the origin's No-Vary-Search has taught about this path, and by which answer. */
  readonly learned: {
    readonly rule: string;
    readonly for: string;
    readonly from: string;
    /** ISO 8601. */
    readonly at: string;
  } | null;
  readonly cached: CachedState;
  /** Whether what is cached was not ready when it was captured, and is soon got again. */
  readonly partial: boolean;
  /** Why the last answer was not kept, as far as who explains has served it lately. */
  readonly not_kept: UnsharedCause | null;
  readonly would: Would;
  /** Whether an answer that is got for it may be kept, if its origin lets it be. */
  readonly may_keep: boolean;
  /** What caches in front are told: of a page, or of what is passed on; null: of neither. */
  readonly downstream: DownstreamCache | Downstream | null;
}

/** Of a gateway that may be another version: whether it has what is shown. */
export function isExplanation(value: unknown): value is Explanation {
  const { input, steps, stripped, dropped, action, cached, ...rest } = fieldsOf(value);
  const { host, dimension, bot, rule, learned } = rest;
  const lists = [steps, stripped, dropped];
  const parts = [host, dimension, bot, rule, learned];
  const words = [input, action, cached];
  return (
    lists.every((list) => Array.isArray(list) && list.every(isRecord)) &&
    parts.every((part) => part === null || isRecord(part)) &&
    words.every((word) => typeof word === 'string')
  );
}

/** Who asks when nobody says who: the client most people want explained. */
export const GOOGLEBOT_USER_AGENT =
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

/** Where the page of a decision is looked up and would be kept; null: nowhere. */
export function refOf(decision: Decision): BodyRef | null {
  const { host, dimension, action } = decision;
  if (decision.error !== null || host === null || dimension === null) return null;
  const isCached = isCachedBypass(decision);
  if (action !== 'render' && !isCached) return null;
  const dimensionId = isCached ? BYPASS_DIMENSION_ID : dimension.id;
  return { hostId: host.id, dimensionId, hash: decision.hash };
}

/** What is passed on, and may be answered from the cache. */
function isCachedBypass(decision: Decision): boolean {
  if (decision.error !== null || decision.action !== 'bypass') return false;
  const method = decision.reason === 'method' ? 'POST' : 'GET';
  const request = { method, headers: [], reason: decision.reason };
  return whyNoPart(request, decision.policy.bypass) === null;
}

export function explainDecision(
  decision: Decision,
  { state, isPartial }: Cached,
  notKept: UnsharedCause | null = null,
): Explanation {
  const keyed: KeyedDecision | null = decision.error === null ? decision : null;
  const { host, dimension } = decision;
  const ref = refOf(decision);
  return {
    input: decision.input,
    normalized: decision.normalized,
    hash: keyed?.hash ?? null,
    error: decision.error,
    host: host === null ? null : { id: host.id, domain: host.domain },
    dimension:
      dimension === null
        ? null
        : { id: dimension.id, name: dimension.name, matched_by: decision.matchedBy },
    bot: decision.bot,
    rule: explainRule(keyed),
    action: decision.action,
    reason: decision.reason,
    status: decision.status?.code ?? null,
    location: findLocation(decision),
    key: ref && formatCacheKey(ref),
    file: ref && bodyFileName(ref),
    steps: decision.steps,
    stripped: keyed?.stripped ?? [],
    dropped: keyed?.dropped ?? [],
    tracking: explainTracking(keyed),
    learned: explainLearned(keyed),
    cached: state,
    partial: isPartial,
    not_kept: notKept,
    would: decideWould(decision, state),
    may_keep: decision.action === 'render' || isCachedBypass(decision),
    downstream: explainDownstream(decision),
  };
}

function explainRule(keyed: KeyedDecision | null): Explanation['rule'] {
  const rule = keyed?.rule ?? null;
  return rule === null ? null : { id: rule.id, match: rule.pattern.source, action: rule.action };
}

function explainTracking(keyed: KeyedDecision | null): Explanation['tracking'] {
  if (keyed === null) return null;
  const { strip, mode, patterns } = keyed.policy.tracking;
  return {
    strip,
    mode,
    patterns: patterns.map(({ pattern, level }) => ({ pattern: pattern.source, level })),
  };
}

function explainLearned(keyed: KeyedDecision | null): Explanation['learned'] {
  const learned = keyed?.learned ?? null;
  if (learned === null) return null;
  const { header, address, from, at } = learned;
  return { rule: header, for: address, from, at: new Date(at).toISOString() };
}

function explainDownstream(decision: Decision): Explanation['downstream'] {
  if (decision.error !== null || decision.action === 'status') return null;
  if (decision.action === 'render') return decision.policy.downstreamCache;
  return chooseDownstream(decision, false);
}

function findLocation(decision: Decision): string | null {
  return decision.status?.headers.find(([name]) => name.toLowerCase() === 'location')?.[1] ?? null;
}

function decideWould(decision: Decision, cached: CachedState): Would {
  if (decision.action === 'status') return 'status';
  if (cached === 'fresh') return 'serve';
  return cached === 'stale' ? 'refresh' : decision.action;
}
