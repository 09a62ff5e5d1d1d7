// Whether a page may be stored, and for how long: spec request-flow, "Never stored". The first
// reason that applies is the one that is logged. Nothing here looks at the request's path: no
// file name ever makes an answer cacheable (case D02).
import type { CacheTimePolicy } from '../policy/policy.ts';
import { parseCacheControl } from './cache-control.ts';
import { firstHeader, type HeaderList, headerValues, listMembers } from './header-list.ts';

export interface StorablePage {
  readonly status: number;
  readonly headers: HeaderList;
  readonly completeness: 'complete' | 'partial';
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

export type StorableAnswer =
  /** `negative`: a 5xx kept only to spare the origin; never put over a good entry. */
  | { readonly store: true; readonly ttlMs: number; readonly negative: boolean }
  | { readonly store: false; readonly reason: UnstorableReason };

/** How long a failing page is remembered when the configuration doesn't say (case C3). */
export const NEGATIVE_TTL_MS = 10_000;

/** Decides whether a page is stored, for how long, or why not. */
export function decideStorable(question: StorableQuestion): StorableAnswer {
  const { page, policy } = question;
  const negative = page.status >= 500 && page.status <= 599;
  const reason = findRefusal(question, negative);
  if (reason !== null) return { store: false, reason };
  const ttlMs = ttlFor(page.status, policy);
  if (ttlMs <= 0) return { store: false, reason: 'ttl' };
  return { store: true, ttlMs, negative };
}

function findRefusal(question: StorableQuestion, negative: boolean): UnstorableReason | null {
  const { page, policy } = question;
  const { headers } = page;
  if (!isWholeAnswer(page.status)) return 'status';
  if (!negative && !policy.statusCodes.has(page.status)) return 'status';
  if (page.completeness === 'partial') return 'partial';
  if (headerValues(headers, 'set-cookie').length > 0) return 'set_cookie';
  const directives = new Set(
    ['cache-control', 'cdn-cache-control']
      .flatMap((name) => headerValues(headers, name))
      .flatMap((value) => parseCacheControl(value))
      .map((directive) => directive.name),
  );
  if (directives.has('no-store')) return 'no_store';
  // Qualified too: `private="x"` names fields, but a damaged one must not open the page (D27).
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
  return listMembers(question.page.headers, 'vary').some((member) => {
    const name = member.toLowerCase();
    if (name === '*' || name === 'authorization') return true;
    if (name === 'cookie') return !question.cookiesIgnored;
    return question.safeRequestSent.has(name);
  });
}

/** A redirect whose target has the page's own key would answer itself for ever (case B1). */
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
