// Who crawls, as data: the words that log, metrics, `explain` and the configuration share. One
// group holds the crawlers of one owner that come from the same addresses, so that an address may
// carry any of their names.
import type { Pattern } from '../pattern/parse-pattern.ts';

/** What a crawler reads pages for. `preview`: a card in a chat or a social network. */
export const CRAWLER_KINDS = [
  'search',
  'preview',
  'ai_train',
  'ai_search',
  'ai_user',
  'ads',
  'seo',
  'archive',
  'tool',
] as const;

export type CrawlerKind = (typeof CRAWLER_KINDS)[number];

/** A published list of addresses. */
export interface RangeSource {
  /** Also the name of its file. */
  readonly name: string;
  readonly url: string;
  /** `prefixes`: the JSON that most owners publish. `lines`: a network a line. */
  readonly format: 'prefixes' | 'lines';
}

export interface CrawlerGroup {
  readonly name: string;
  readonly lists: readonly RangeSource[];
  /** Besides a list's own host: domains that its owner may redirect to. */
  readonly listDomains: readonly string[];
  /** Reverse names the owner promises, such as `*.search.msn.com`. */
  readonly hostNames: readonly Pattern[];
}

export interface Crawler {
  readonly token: string;
  readonly kind: CrawlerKind;
  readonly group: CrawlerGroup;
}

/** The whole table, as shipped. */
export interface CrawlerTable {
  /** Day of the last check against the owners' pages, `2026-11-30`. */
  readonly checkedOn: string;
  readonly groups: readonly CrawlerGroup[];
  readonly crawlers: readonly Crawler[];
  /** Names that only robots.txt knows: no client sends them. */
  readonly robotsOnly: readonly string[];
}

/** Three, never two: what can't be checked is not forged. */
export type BotVerdict = 'verified' | 'forged' | 'unverifiable';

export type VerdictReason =
  /** Verified: inside a published list; or its name and back. */
  | 'list'
  | 'rdns'
  /** Forged: the owner publishes a method, and it says no. */
  | 'not_listed'
  | 'rdns_mismatch'
  /** Unverifiable. */
  | 'no_method'
  | 'no_list'
  | 'lookup_pending'
  | 'lookup_failed'
  | 'local_address'
  | 'no_address'
  | 'verify_off';

export interface AddressVerdict {
  readonly verdict: BotVerdict;
  readonly by: VerdictReason;
}

/** One client that calls itself a crawler. */
export interface BotJudgement extends AddressVerdict {
  readonly owner: string;
  readonly token: string;
  readonly kind: CrawlerKind;
}
