// Whether a page may be stored, and for how long: spec request-flow, "Never stored". The first
// reason that applies is the one that is logged. Nothing here looks at the request's path: no
// file name ever makes an answer cacheable.

import type { EntrySource } from '../key/entry.ts';
import type { CacheTimePolicy } from '../policy/policy.ts';
import { parseCacheControl } from './cache-control.ts';
import type { Lifetime } from './freshness.ts';
import { fieldMembers, firstHeader, type HeaderList, headerValues } from './header-list.ts';

export interface StorablePage {
  readonly status: number;
  readonly headers: HeaderList;
  readonly completeness: 'complete' | 'partial';
  readonly source: EntrySource;
}

export interface StorableQuestion {
  readonly page: StorablePage;
  readonly policy: CacheTimePolicy;
  /** The normalized URL that was asked for. */
  readonly url: string;
  /** Lower-case names of the client headers that went along with the fill. */
  readonly safeRequestSent: ReadonlySet<string>;
  /** `bypass.cache.cookies: ignore`, the host's own promise. */
  readonly cookiesIgnored: boolean;
  /** The normalized form of an absolute URL under the same policy; null: it has none. */
  readonly normalize: (url: string) => string | null;
}

export type UnstorableReason =
  | 'status'
  | 'partial'
  | 'set_cookie'
  | 'no_store'
  | 'private'
  | 'vary'
  | 'content_type'
  | 'self_redirect'
  | 'ttl';

/**
 * `negative`: a 5xx, kept to spare the origin. `partial`: a page that was not ready when it was
 * captured, kept so that a crowd shares it. Neither is ever put over a good entry.
 */
export type Standing = 'good' | 'negative' | 'partial';

export type StorableAnswer =
  | { readonly store: true; readonly standing: Standing; readonly lifetime: Lifetime }
  | { readonly store: false; readonly reason: UnstorableReason };

/** How long a failing page is remembered when the configuration doesn't say. */
export const NEGATIVE_TTL_MS = 10_000;

/** A partial page is fresh for this long, then served while it is rendered again: 30 s at most. */
export const PARTIAL_TTL_MS = 10_000;
export const PARTIAL_STALE_TTL_MS = 20_000;

/** Decides whether a page is stored, for how long, or why not. */
export function decideStorable(question: StorableQuestion): StorableAnswer {
  const { page, policy } = question;
  const standing = standingOf(page);
  const reason = findRefusal(question, standing);
  if (reason !== null) return { store: false, reason };
  const lifetime = lifetimeOf(page.status, standing, policy);
  if (lifetime.ttlMs <= 0) return { store: false, reason: 'ttl' };
  return { store: true, standing, lifetime };
}

function standingOf({ status, completeness }: StorablePage): Standing {
  if (status >= 500 && status <= 599) return 'negative';
  return completeness === 'partial' ? 'partial' : 'good';
}

function lifetimeOf(status: number, standing: Standing, policy: CacheTimePolicy): Lifetime {
  const ttlMs = ttlFor(status, policy);
  const staleTtlMs = policy.expired.strategy === 'delete' ? 0 : policy.expired.staleTtlMs;
  switch (standing) {
    case 'good':
      return { ttlMs, staleTtlMs, jitter: policy.jitter };
    case 'negative':
      return { ttlMs, staleTtlMs: 0, jitter: policy.jitter };
    case 'partial':
      return {
        ttlMs: Math.min(ttlMs, PARTIAL_TTL_MS),
        staleTtlMs: Math.min(staleTtlMs, PARTIAL_STALE_TTL_MS),
        jitter: 0,
      };
  }
}

function findRefusal(question: StorableQuestion, standing: Standing): UnstorableReason | null {
  const { page, policy } = question;
  const { headers } = page;
  if (!isWholeAnswer(page.status)) return 'status';
  if (standing !== 'negative' && !policy.statusCodes.has(page.status)) return 'status';
  // A browser's page has all its bytes; an origin's that ended with its connection may not.
  if (page.completeness === 'partial' && page.source === 'origin') return 'partial';
  if (headerValues(headers, 'set-cookie').length > 0) return 'set_cookie';
  const directives = new Set(
    ['cache-control', 'cdn-cache-control']
      .flatMap((name) => headerValues(headers, name))
      .flatMap((value) => parseCacheControl(value))
      .map((directive) => directive.name),
  );
  if (directives.has('no-store')) return 'no_store';
  // Qualified too: `private="x"` names fields, but a damaged one must not open the page.
  if (directives.has('private')) return 'private';
  if (variesByPerson(question)) return 'vary';
  if (new Set(headerValues(headers, 'content-type')).size > 1) return 'content_type';
  if (redirectsToItself(question)) return 'self_redirect';
  return null;
}

/** 1xx are not final, 206 is a part, 304 is no content: none is ever the page itself. */
function isWholeAnswer(status: number): boolean {
  return Number.isInteger(status) && status >= 200 && status <= 599 && ![206, 304].includes(status);
}

/** Varies by something that a crawler's request brought along, and so isn't one page for all. */
function variesByPerson(question: StorableQuestion): boolean {
  return fieldMembers(question.page.headers, 'vary').some((member) => {
    const name = member.toLowerCase();
    if (name === '*' || name === 'authorization') return true;
    if (name === 'cookie') return !question.cookiesIgnored;
    return question.safeRequestSent.has(name);
  });
}

/** A redirect whose target has the page's own key would answer itself for ever. */
function redirectsToItself(question: StorableQuestion): boolean {
  const { page, url, normalize } = question;
  if (page.status < 300 || page.status > 399) return false;
  const location = firstHeader(page.headers, 'location');
  if (location === null || !URL.canParse(location, url)) return false;
  const target = new URL(location, url);
  target.hash = '';
  return target.href === url || normalize(target.href) === url;
}

function ttlFor(status: number, policy: CacheTimePolicy): number {
  const byStatus = policy.ttlMsByStatus;
  const explicit = byStatus.get(status) ?? byStatus.get(Math.floor(status / 100));
  if (explicit !== undefined) return explicit;
  if (status < 500 || policy.statusCodes.has(status)) return policy.ttlMs;
  return Math.min(policy.ttlMs, NEGATIVE_TTL_MS);
}
