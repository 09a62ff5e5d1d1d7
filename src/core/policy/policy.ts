// The compiled configuration: what a request looks things up in. Everything here is built once at
// load time by config/compile-policy and never changes afterwards; a reload swaps the whole
// PolicySet in one assignment, so no request ever sees half of two configurations.
import type { Pattern } from '../pattern/parse-pattern.ts';
import type { PatternSet } from '../pattern/pattern-set.ts';

/** The level of the configuration at which a value was written, shown by `explain`. */
export type PolicyLevel = 'default' | 'global' | 'host' | 'rule';

export interface StripPattern {
  readonly pattern: Pattern;
  readonly level: PolicyLevel;
}

/** What is stripped at one level, after everything above it was taken into account. */
export interface StripPolicy {
  /** `false`: nothing is stripped, the list is only kept for a lower `strip: true`. */
  readonly strip: boolean;
  /** `strip`: names that match are dropped. `keep`: names that match nothing are dropped. */
  readonly mode: 'strip' | 'keep';
  /** Where the list was last changed. */
  readonly level: PolicyLevel;
  readonly patterns: readonly StripPattern[];
  /** `patterns`, compiled: finds the first that matches a decoded name. */
  readonly matcher: PatternSet<StripPattern>;
  /** What is said of a pair of this decoded name when it is dropped; null: it stays. */
  readonly judge: (name: string) => StrippedPair | null;
}

/**
 * One dropped parameter: its decoded name, the pattern that matched and the level of that pattern.
 * `learned`: the pattern is what the origin said.
 */
export interface StrippedPair {
  readonly name: string;
  readonly pattern: string;
  readonly level: PolicyLevel | 'learned';
}

/** A pair that options of `normalization` leave out: its decoded name, and which of them. */
export interface DroppedPair {
  readonly name: string;
  readonly reason: 'default_value' | 'empty_value';
}

export type EmptyValues = 'bare' | 'equals' | 'preserve' | 'drop';

/** spec: url-and-key, "Further normalization options". */
export interface NormalizationPolicy {
  readonly sortQuery: boolean;
  readonly emptyValues: EmptyValues;
  readonly plus: 'space' | 'literal';
  /** `preserve` is raw mode: kept pairs keep their bytes. */
  readonly encoding: 'canonical' | 'preserve';
  readonly collapseSlashes: boolean;
  readonly trailingSlash: 'preserve' | 'add' | 'remove';
  readonly defaultDocuments: readonly string[];
  readonly defaultValues: ReadonlyMap<string, string>;
  readonly lowercasePath: boolean;
  readonly www: 'keep' | 'strip' | 'add';
  readonly signedUrls: 'bypass' | 'ignore';
  /** Extra signature parameter names (decoded, exact). */
  readonly signedParams: readonly string[];
  readonly canonicalRedirect: 'off' | 301 | 308;
  readonly localeRedirect: LocaleRedirect | null;
  /** `learn`: the origin's No-Vary-Search tells which parameters don't matter. */
  readonly noVarySearch: 'off' | 'learn' | 'emit';
}

export interface LocaleRedirect {
  readonly default: string;
  readonly locales: readonly string[];
}

export interface ExpiredPolicy {
  readonly strategy: 'serve_stale' | 'delete';
  readonly staleTtlMs: number;
}

export interface CacheTimePolicy {
  readonly ttlMs: number;
  /** Status (404) or class (4 for 4xx) to its own ttl; the exact status wins. */
  readonly ttlMsByStatus: ReadonlyMap<number, number>;
  readonly statusCodes: ReadonlySet<number>;
  /** Fraction of the ttl, 0 to 0.5, by which it may differ either way. */
  readonly jitter: number;
  readonly expired: ExpiredPolicy;
}

export type WaitEvent = 'DOMContentLoaded' | 'load' | 'networkIdle' | 'networkAlmostIdle';

export interface RenderPolicy {
  readonly timeoutMs: number;
  readonly softTimeoutMs: number;
  readonly waitFor: WaitEvent;
  readonly additionalWaitMs: number;
  /** How old a long poll is when a page is no longer kept for it. */
  readonly longPollAfterMs: number;
  readonly selector: string | null;
  readonly blockedResourceTypes: readonly string[];
  readonly blockedPatterns: readonly string[];
  readonly stripScripts: boolean;
  readonly cache: CacheTimePolicy;
  readonly onError: 'stale_then_origin' | '503';
}

export interface BypassPolicy {
  readonly timeoutMs: number;
  /** null: the client's own User-Agent passes through. */
  readonly userAgent: string | null;
  /** `ignore`: cookies do not make an answer private (host's own promise). */
  readonly cookies: 'pass' | 'ignore';
  readonly cache: BypassCachePolicy;
}

/** Bypassed answers as a shared HTTP cache keeps them (RFC 9111). */
export interface BypassCachePolicy {
  readonly enabled: boolean;
  /** For answers that say nothing about their freshness; 0: those are not stored. */
  readonly ttlMs: number;
  readonly statusCodes: ReadonlySet<number>;
  readonly expired: ExpiredPolicy;
}

/** A crawler's hit schedules a refresh. */
export interface RecachePolicy {
  readonly enabled: boolean;
  /** Not more often than this for one page. */
  readonly intervalMs: number;
  /** Whose hits count. */
  readonly matchUserAgent: readonly Pattern[];
}

export interface HeaderPolicy {
  /** Lower-case names of client headers that may reach the renderer. */
  readonly safeRequest: ReadonlySet<string>;
  /** Lower-case names of page headers that are stored and replayed. */
  readonly safeResponse: ReadonlySet<string>;
}

/** What becomes of clients that call themselves crawlers. */
export interface BotPolicy {
  /** Whether their addresses are checked. */
  readonly verify: boolean;
  /** `bypass`: a forged crawler is treated as a person. `block`: it is refused. */
  readonly forged: 'bypass' | 'block';
  /** How long a link preview waits for a page that is not there yet; then it gets the origin's. */
  readonly previewWaitMs: number;
}

export type DownstreamCache = 'private' | 'vary' | 'origin';

/** What applies to one request once global, host and rule are merged. */
export interface EffectivePolicy {
  readonly normalization: NormalizationPolicy;
  readonly tracking: StripPolicy;
  readonly render: RenderPolicy;
  readonly bypass: BypassPolicy;
  readonly headers: HeaderPolicy;
  readonly bots: BotPolicy;
  readonly recache: RecachePolicy;
  readonly downstreamCache: DownstreamCache;
}

export type DimensionAction = 'render' | 'bypass' | 'block';

export interface Dimension {
  readonly id: number;
  readonly name: string;
  readonly action: DimensionAction;
  readonly width: number;
  readonly height: number;
  /**
   * User-Agent sent to the page for this dimension; never the client's own, which is not in the
   * key.
   */
  readonly renderUserAgent: string;
  readonly locale: string | null;
  readonly matchUserAgent: readonly Pattern[];
}

export type RuleAction = 'render' | 'bypass' | 'status';

export interface StatusAnswer {
  readonly code: number;
  readonly reason: string | null;
  readonly headers: readonly (readonly [string, string])[];
}

export interface QueryCondition {
  /** Decoded parameter name, compared exactly. */
  readonly name: string;
  /** Any-of; a lone `*` means present and not empty. */
  readonly values: readonly Pattern[];
}

/** One pattern of one `url_rules` entry: an entry with several patterns becomes several. */
export interface Rule {
  /** The user's `id`, or `rule_<place in the file>`. Does not change when rules are sorted. */
  readonly id: string;
  readonly pattern: Pattern;
  readonly query: readonly QueryCondition[];
  /** Upper-case methods, or null for any. */
  readonly methods: ReadonlySet<string> | null;
  /** null: the rule only changes policy and leaves the action to the dimension. */
  readonly action: RuleAction | null;
  readonly status: StatusAnswer | null;
  /** `dimension: <name>` of a render rule: renders every client, in that dimension. */
  readonly dimension: Dimension | null;
  readonly priority: number;
  /** Place in the file, the last tie-break. */
  readonly order: number;
  readonly policy: EffectivePolicy;
}

export interface Origin {
  /** `http://127.0.0.1:3000`: scheme, host and port only. */
  readonly url: string;
}

export interface HostPolicy {
  readonly id: number;
  /** The first of `domains`, in ASCII: its name in logs and metrics. */
  readonly domain: string;
  /** Lower-case ASCII names; `*.example.com` covers one or more labels. */
  readonly domains: readonly string[];
  readonly enabled: boolean;
  readonly origins: readonly Origin[];
  /** Host header sent upstream; null: the one the client sent. */
  readonly originHostHeader: string | null;
  readonly scheme: 'http' | 'https';
  readonly renderKey: string | null;
  readonly dimensions: readonly Dimension[];
  readonly unmatched: Dimension | 'block';
  /** Sorted: the first that matches is the one that applies. */
  readonly rules: readonly Rule[];
  readonly policy: EffectivePolicy;
}

export interface UrlLimits {
  readonly urlBytesMax: number;
  readonly paramsMax: number;
}

/** One whole configuration, as the decision function reads it. */
export interface PolicySet {
  readonly limits: UrlLimits;
  /** For URLs of hosts that are not configured (`normalize`, `explain`). */
  readonly global: EffectivePolicy;
  readonly hosts: readonly HostPolicy[];
}
