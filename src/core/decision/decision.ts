// What is known about a request before anything is looked up: the same record for serving, purging,
// warming, `explain`, `normalize` and the library.
import type { BotJudgement } from '../bots/crawlers.ts';
import type { LearnedRule } from '../learned/learned-rule.ts';
import type {
  Dimension,
  DroppedPair,
  EffectivePolicy,
  HostPolicy,
  Rule,
  StatusAnswer,
  StrippedPair,
} from '../policy/policy.ts';
import type { TraceStep } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';

/** Why the plan is what it is: log word, metric label and `explain` text at once. */
export type DecisionReason =
  | 'invalid_url'
  | 'unknown_host'
  | 'block_dimension'
  | 'forged_bot'
  | 'status_rule'
  | 'canonical_redirect'
  | 'method'
  | 'signed_url'
  | 'authorization'
  | 'rule'
  | 'not_a_page'
  | 'dimension'
  | 'unmatched_dimension';

export type DecisionAction = 'render' | 'bypass' | 'status';

export interface DecisionRequest {
  /** Absolute URL: scheme, `Host` and raw target; bytes above ASCII already as triplets. */
  readonly url: string;
  /** Upper-case. */
  readonly method: string;
  readonly userAgent: string;
  /** Decides for this dimension, whatever the User-Agent: for pages that no client asks for. */
  readonly dimensionId?: number;
  readonly hasAuthorization: boolean;
  /**
   * Who a client is that calls itself a crawler; asked only when a page would be rendered for it,
   * and never waits. Absent: nobody asks, as when a URL is purged.
   */
  readonly judgeBot?: BotLookUp;
}

/** What is asked about a page where no client asks for it. */
export function questionAbout(url: string): DecisionRequest {
  return { url, method: 'GET', userAgent: '', hasAuthorization: false };
}

/** @param verifies false: the address is not to be checked */
export type BotLookUp = (userAgent: string, verifies: boolean) => BotJudgement | null;

export interface Plan {
  readonly action: DecisionAction;
  readonly reason: DecisionReason;
  /** The answer, when the action is `status`. */
  readonly status: StatusAnswer | null;
}

interface DecisionBase extends Plan {
  readonly input: string;
  /** null: no configured host has this name; the global policy applies. */
  readonly host: HostPolicy | null;
  /** null: a client that is blocked, or no host. */
  readonly dimension: Dimension | null;
  readonly matchedBy: string | null;
  /** null: a person, a crawler nobody knows, or one that nothing is rendered for. */
  readonly bot: BotJudgement | null;
  readonly steps: readonly TraceStep[];
}

export interface RefusedDecision extends DecisionBase {
  readonly error: UrlErrorKind;
  readonly normalized: null;
}

export interface KeyedDecision extends DecisionBase {
  readonly error: null;
  readonly normalized: string;
  /** Normalized path without query. */
  readonly path: string;
  readonly hash: string;
  readonly rule: Rule | null;
  readonly policy: EffectivePolicy;
  readonly stripped: readonly StrippedPair[];
  /** By options of `normalization`. */
  readonly dropped: readonly DroppedPair[];
  /** What the origin has said about the parameters of this path. */
  readonly learned: LearnedRule | null;
}

export type Decision = RefusedDecision | KeyedDecision;
