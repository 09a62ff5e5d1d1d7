// What may be stored, for how long, and the first reason why not.
import { describe, expect, it } from 'vitest';
import {
  decideStorable,
  NEGATIVE_TTL_MS,
  PARTIAL_STALE_TTL_MS,
  PARTIAL_TTL_MS,
  type StorableQuestion,
} from '../../../src/core/http/cacheable.ts';
import type { HeaderList } from '../../../src/core/http/header-list.ts';
import type { CacheTimePolicy } from '../../../src/core/policy/policy.ts';

const URL_ASKED = 'https://site.test/page?a=1';
const TTL_MS = 3_600_000;
const POLICY: CacheTimePolicy = {
  ttlMs: TTL_MS,
  ttlMsByStatus: new Map(),
  statusCodes: new Set([200, 301, 302, 307, 308, 404, 410]),
  jitter: 0,
  expired: { strategy: 'serve_stale', staleTtlMs: 0 },
};

const QUESTION: Omit<StorableQuestion, 'page'> = {
  policy: POLICY,
  url: URL_ASKED,
  safeRequestSent: new Set(),
  cookiesIgnored: false,
  // Enough of a normalizer for the redirect rows: drops one tracking parameter.
  normalize: (url) => url.replace(/&utm_source=[^&]*/, ''),
};

type ExpiredChanges = Partial<CacheTimePolicy['expired']> &
  Pick<Changes, 'status' | 'completeness'>;

interface Changes {
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly completeness?: 'complete' | 'partial';
  readonly source?: 'render' | 'origin';
  readonly policy?: Partial<CacheTimePolicy>;
  readonly sent?: readonly string[];
  readonly cookiesIgnored?: boolean;
}

/** `stored <ttl>`, `negative <ttl>`, `partial <ttl>` or the reason against. */
function decide({
  status = 200,
  headers = [],
  completeness = 'complete',
  source = 'render',
  ...rest
}: Changes): string {
  const answer = decideStorable({
    ...QUESTION,
    page: { status, headers, completeness, source },
    policy: { ...POLICY, ...rest.policy },
    safeRequestSent: new Set(rest.sent ?? []),
    cookiesIgnored: rest.cookiesIgnored ?? false,
  });
  if (!answer.store) return answer.reason;
  const { standing, lifetime } = answer;
  return `${standing === 'good' ? 'stored' : standing} ${lifetime.ttlMs}`;
}

const NEGATIVE = `negative ${NEGATIVE_TTL_MS}`;
const STORED = `stored ${TTL_MS}`;

describe('decideStorable', () => {
  it.each<[string, Changes, string]>([
    ['a plain page', {}, STORED],
    ['a 404', { status: 404 }, STORED],
    ['a status that is not listed', { status: 403 }, 'status'],
    ['D19: a part', { status: 206, policy: { statusCodes: new Set([206]) } }, 'status'],
    [
      'D21: no content of its own',
      { status: 304, policy: { statusCodes: new Set([304]) } },
      'status',
    ],
    ['an interim answer', { status: 103, policy: { statusCodes: new Set([103]) } }, 'status'],
    ['R13: no status at all', { status: 999, policy: { statusCodes: new Set([999]) } }, 'status'],
    ['a page that was not ready', { completeness: 'partial' }, `partial ${PARTIAL_TTL_MS}`],
    ['that never lives longer', { completeness: 'partial', policy: { ttlMs: 5 } }, 'partial 5'],
    ['an answer that may be cut', { completeness: 'partial', source: 'origin' }, 'partial'],
    ['a failure that was not ready', { completeness: 'partial', status: 503 }, NEGATIVE],
    ['no lifetime', { policy: { ttlMs: 0 } }, 'ttl'],
  ])('%s', (_what, changes, expected) => expect(decide(changes)).toBe(expected));

  it.each<[string, HeaderList, string]>([
    ['D26: Set-Cookie', [['Set-Cookie', 'a=1']], 'set_cookie'],
    ['no-store', [['Cache-Control', 'max-age=60, NO-STORE']], 'no_store'],
    [
      'no-store on a second line',
      [
        ['Cache-Control', 'a'],
        ['cache-control', 'no-store'],
      ],
      'no_store',
    ],
    ['no-store for caches like us', [['CDN-Cache-Control', 'no-store']], 'no_store'],
    ['private', [['Cache-Control', 'private']], 'private'],
    ['D27: private=', [['Cache-Control', 'private=']], 'private'],
    ['D27: private="x", private', [['Cache-Control', 'private="x", private']], 'private'],
    ['D27: private="x', [['Cache-Control', 'private="x']], 'private'],
    ['private="x"', [['Cache-Control', 'private="x"']], 'private'],
    ['private, semicolons', [['Cache-Control', 'private; max-age=600']], 'private'],
    ['no-store in a quote without end', [['Cache-Control', 'x="a, no-store']], 'no_store'],
    ['a directive that only ends so', [['Cache-Control', 'x-private, not-no-store']], STORED],
    ['a quoted no-store', [['Cache-Control', 'ext="no-store"']], STORED],
    ['no-cache, max-age=0: our ttl decides', [['Cache-Control', 'no-cache, max-age=0']], STORED],
    ['Vary: *', [['Vary', '*']], 'vary'],
    ['Vary with a * in the list', [['Vary', 'Accept-Encoding, *']], 'vary'],
    ['Vary: Cookie', [['Vary', 'cookie']], 'vary'],
    ['Vary: Authorization', [['Vary', 'Authorization']], 'vary'],
    ['Vary by what no fill carries', [['Vary', 'Accept-Encoding, User-Agent']], STORED],
    [
      'R22: two Content-Types',
      [
        ['Content-Type', 'text/html'],
        ['content-type', 'text/plain'],
      ],
      'content_type',
    ],
    [
      'one Content-Type twice',
      [
        ['Content-Type', 'text/html'],
        ['content-type', 'text/html'],
      ],
      STORED,
    ],
  ])('%s', (_what, headers, expected) => expect(decide({ headers })).toBe(expected));

  it('Vary: Cookie is no matter where the host promises so, Authorization is', () => {
    expect(decide({ headers: [['Vary', 'Cookie']], cookiesIgnored: true })).toBe(STORED);
    expect(decide({ headers: [['Vary', 'Authorization']], cookiesIgnored: true })).toBe('vary');
  });

  it('Vary by a client header that went along', () => {
    const headers = [['Vary', 'X-Country']] as const;
    expect(decide({ headers, sent: ['x-country'] })).toBe('vary');
    expect(decide({ headers, sent: ['x-other'] })).toBe(STORED);
  });

  it.each([
    ['itself', URL_ASKED, 'self_redirect'],
    ['itself, relative', '/page?a=1', 'self_redirect'],
    ['itself, by its query', '?a=1', 'self_redirect'],
    ['itself, with a fragment', `${URL_ASKED}#top`, 'self_redirect'],
    ['what has the same key', '/page?a=1&utm_source=x', 'self_redirect'],
    ['another page', '/page?a=2', STORED],
    ['another scheme', 'http://site.test/page?a=1', STORED],
    ['no URL at all', 'http://[', STORED],
  ])('B1: a redirect to %s', (_what, location, expected) => {
    expect(decide({ status: 301, headers: [['Location', location]] })).toBe(expected);
  });

  it('a Location on a page that is no redirect says nothing', () => {
    expect(decide({ status: 200, headers: [['Location', URL_ASKED]] })).toBe(STORED);
  });

  it.each<[string, number, Partial<CacheTimePolicy>, string]>([
    [
      'the exact status wins',
      404,
      {
        ttlMsByStatus: new Map([
          [404, 5],
          [4, 7],
        ]),
      },
      'stored 5',
    ],
    [
      'then its class',
      410,
      {
        ttlMsByStatus: new Map([
          [404, 5],
          [4, 7],
        ]),
      },
      'stored 7',
    ],
    ['400 itself is not its class', 410, { ttlMsByStatus: new Map([[400, 7]]) }, STORED],
    ['then the ttl', 200, { ttlMsByStatus: new Map([[404, 5]]) }, STORED],
    ['0 is explicit', 404, { ttlMsByStatus: new Map([[404, 0]]) }, 'ttl'],
    ['a ttl alone lists no status', 403, { ttlMsByStatus: new Map([[4, 7]]) }, 'status'],
    ['a 5xx is remembered shortly', 503, {}, `negative ${NEGATIVE_TTL_MS}`],
    ['never longer than pages', 503, { ttlMs: 5 }, 'negative 5'],
    ['as long as configured', 503, { ttlMsByStatus: new Map([[5, 9]]) }, 'negative 9'],
    ['or not at all', 503, { ttlMsByStatus: new Map([[503, 0]]) }, 'ttl'],
    ['a listed 5xx lives like a page', 503, { statusCodes: new Set([503]) }, `negative ${TTL_MS}`],
  ])('lifetime: %s', (_what, status, policy, expected) => {
    expect(decide({ status, policy })).toBe(expected);
  });

  it.each([
    [{}, 7, 0.1],
    [{ status: 503 }, 0, 0.1],
    [{ completeness: 'partial' }, 7, 0],
    [{ completeness: 'partial', staleTtlMs: 1e9 }, PARTIAL_STALE_TTL_MS, 0],
    [{ completeness: 'partial', strategy: 'delete' }, 0, 0],
    [{ strategy: 'delete' }, 0, 0.1],
  ] as const)('%j is served stale for %i ms', (changes, staleTtlMs, jitter) => {
    const { status = 200, completeness = 'complete', ...expired }: ExpiredChanges = changes;
    const answer = decideStorable({
      ...QUESTION,
      page: { status, completeness, headers: [], source: 'render' },
      policy: {
        ...POLICY,
        jitter: 0.1,
        expired: { strategy: 'serve_stale', staleTtlMs: 7, ...expired },
      },
    });
    expect(answer).toMatchObject({ lifetime: { staleTtlMs, jitter } });
  });

  it('a 5xx obeys the other rules too', () => {
    expect(decide({ status: 503, headers: [['Cache-Control', 'no-store']] })).toBe('no_store');
    expect(decide({ status: 503, headers: [['Set-Cookie', 'a=1']] })).toBe('set_cookie');
  });
});
