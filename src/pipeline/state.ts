// What is known about a request, growing phase by phase. Each state holds the one before it, so
// using the key before it was derived, or a page before it was looked up, does not compile.
import type { Readable } from 'node:stream';
import type { BotJudgement } from '../core/bots/crawlers.ts';
import type { Decider } from '../core/decision/create-decider.ts';
import type { DecisionAction, DecisionReason, KeyedDecision } from '../core/decision/decision.ts';
import type { StorableAnswer } from '../core/http/cacheable.ts';
import type { Downstream } from '../core/http/tell-downstream.ts';
import type { Dimension, HostPolicy } from '../core/policy/policy.ts';
import type { BotJudge } from './judge-bot.ts';
import type { Information, Peer } from './origin-ports.ts';
import type { BodyRef, CacheKey, Entry, FetchFailure, HeaderList, Page } from './ports.ts';

/** The part of a configuration that requests read; a request keeps the one it started with. */
export interface Site {
  readonly decider: Decider;
  readonly judgeBot: BotJudge['judge'];
  readonly showsDiagnostics: boolean;
  readonly waitersPerKeyMax: number;
  /** The largest answer that is kept. */
  readonly pageBytesMax: number;
}

/** One request as the door let it through. */
export interface ClientRequest {
  /** Upper-case. */
  readonly method: string;
  /** Absolute: connection scheme, `Host` and raw target with bytes above ASCII as triplets. */
  readonly url: string;
  /** Host name in normal form, without port. */
  readonly hostName: string;
  /** Of the client itself, behind the trusted proxies; null: not known. */
  readonly address: string | null;
  /** null: a page that was asked for by URL; what it is passed on as is made elsewhere. */
  readonly peer: Peer | null;
  readonly headers: HeaderList;
  readonly httpVersion: string;
  readonly requestId: string;
}

export interface Received {
  readonly request: ClientRequest;
  readonly site: Site;
  /** Passes an interim answer on to the client. */
  readonly onInformation: (information: Information) => void;
  /** Told before anything is waited for: the client may be gone when that is over. */
  readonly onKeyed?: (keyed: Keyed) => void;
}

/** Host, dimension, normalized URL, rule and plan: all made by the one decider. */
export interface Planned extends Received {
  readonly decision: KeyedDecision;
  readonly host: HostPolicy;
  readonly dimension: Dimension;
}

/** A page is wanted from the cache: its key is known. */
export interface Keyed extends Planned {
  readonly key: CacheKey;
  readonly ref: BodyRef;
}

/** A page that was got and, where that was allowed, stored. Belongs to no client. */
export interface FilledPage {
  readonly outcome: 'page';
  readonly page: Page;
  /** The entry that was written; null where the page was not stored. */
  readonly entry: Entry | null;
  /** Why it was not stored. */
  readonly unstored: UnstoredReason | null;
  /** Another process got it. */
  readonly isFromStore?: true;
}

/** A file; or a redirect to its own key, which only the origin can tell from its target. */
export type NonPageReason = 'not_html' | 'self_redirect';

/** Another process got it and could share it with nobody. */
export interface UnsharedFill {
  readonly outcome: 'unshared';
  /** It is no page of its own. */
  readonly nonPage: NonPageReason | null;
}

export type UnstoredReason =
  | Extract<StorableAnswer, { readonly store: false }>['reason']
  | 'not_html'
  /** A client's own header went along. */
  | 'request_headers'
  /** A purge came after the fetch had begun. */
  | 'purged'
  | 'collision'
  | 'store_unavailable';

export interface FailedFill {
  readonly outcome: 'failed';
  readonly reason: FetchFailure;
  /** For the log: may name inner addresses, never goes to a client. */
  readonly detail: string;
}

export type Fill = FilledPage | UnsharedFill | FailedFill;

/** `none`: the client left before anything was there. */
export type AnswerSource = 'rendered' | 'cache' | 'bypass' | 'bypass_cache' | 'status' | 'none';
export type CacheVerdict = 'hit' | 'stale' | 'miss' | 'bypass' | 'none';

/** One request in words: log line, metric labels and diagnostics are all made from this. */
export interface RequestRecord {
  readonly requestId: string;
  readonly host: HostPolicy | null;
  readonly dimension: string | null;
  readonly rule: string | null;
  readonly bot: BotJudgement | null;
  readonly action: DecisionAction;
  readonly reason: DecisionReason | NonPageReason | 'raw_host' | 'upgrade';
  readonly source: AnswerSource;
  readonly cache: CacheVerdict;
  readonly url: string | null;
  readonly key: CacheKey | null;
  /** A failure, or why a page was not stored. */
  readonly detail: string | null;
  /** Asked for an answer that may be kept; null: none was, or whoever passes it on tells of it. */
  readonly originUrl: string | null;
  /** The origin gave no answer, or not all of it; `detail` is for the log only. */
  readonly failure: { readonly error: string; readonly detail: string } | null;
  readonly strippedCount: number;
  /** Waited for what somebody else had asked for. */
  readonly isCollapsed: boolean;
}

/** A body on its way from the origin, as fast as the client reads. */
export interface StreamedBody {
  readonly stream: Readable;
  /** Known once the stream has ended. */
  readonly trailers: () => HeaderList;
  /** What is wrong with it, known when it has closed. */
  readonly flaw: () => BodyFlaw | null;
}

/** It came only in part; or whole, and could not be kept for lack of space. */
export type BodyFlaw = 'cut' | 'too_large' | 'no_room';

export interface Answer {
  readonly status: number;
  /** The phrase beside the status; absent: the standard's. */
  readonly reason?: string;
  readonly headers: HeaderList;
  /** null for an answer without a body (304, HEAD, redirects of rules). */
  readonly body: Buffer | StreamedBody | null;
}

/** What is known of an answer that was passed on, before the client gets it. */
export interface PassedHead {
  readonly status: number;
  readonly headers: HeaderList;
}

export interface AnswerDelivery {
  readonly kind: 'answer';
  readonly answer: Answer;
  readonly record: RequestRecord;
}

export interface BypassDelivery {
  readonly kind: 'bypass';
  readonly host: HostPolicy;
  readonly timeoutMs: number;
  readonly userAgent: string | null;
  /** What caches in front are told of the origin's answer. */
  readonly downstream: Downstream;
  /** Added to the origin's answer. */
  readonly headers: HeaderList;
  /** Told of the origin's answer; the client gets it when that is done. */
  readonly onAnswer?: (head: PassedHead) => Promise<void>;
  readonly record: RequestRecord;
}

/** What leaves the pipeline: an answer, or the word to pass the request on as it came. */
export type Delivery = AnswerDelivery | BypassDelivery;

export interface NotAnswered {
  /** `unavailable`: nothing is known, so nothing may be stored either. */
  readonly state: 'absent' | 'unavailable';
  /** Why there is nothing, where it is not simply absent. */
  readonly detail: string | null;
}

export type Looked = { readonly state: 'answered'; readonly delivery: Delivery } | NotAnswered;

/** Whether the policy lets an expired page be served at all. */
export function servesStale(keyed: Keyed): boolean {
  return keyed.decision.policy.render.cache.expired.strategy === 'serve_stale';
}
