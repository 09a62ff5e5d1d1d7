// The promise of spec/url-and-key.md as laws, over random URLs and random policies.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { HostPolicy, NormalizationPolicy, Rule } from '../../src/core/policy/policy.ts';
import { resolveTracking } from '../../src/core/tracking/resolve-tracking.ts';
import {
  DEFAULT_TRACKING,
  effectivePolicy,
  hostPolicy,
  NEUTRAL_NORMALIZATION,
  pattern,
  policySet,
  rule,
} from '../helpers/policies.ts';

/** Too long for another `www.`. */
const LONG_HOST = `${'a'.repeat(60)}.`.repeat(4).concat('example');
const BLOCK = { code: 403, reason: null, headers: [] };

const RUNS = { numRuns: 3_000 };
const hashText = (text: string): string => text;

const anyNormalization: fc.Arbitrary<NormalizationPolicy> = fc.record({
  sortQuery: fc.boolean(),
  emptyValues: fc.constantFrom('bare', 'equals', 'preserve', 'drop'),
  plus: fc.constantFrom('space', 'literal'),
  encoding: fc.constantFrom('canonical', 'preserve'),
  collapseSlashes: fc.boolean(),
  trailingSlash: fc.constantFrom('preserve', 'add', 'remove'),
  defaultDocuments: fc.subarray(['index.html', 'b', 'a']),
  defaultValues: fc.constantFrom(new Map(), new Map([['a', '1']]), new Map([['a', '']])),
  lowercasePath: fc.boolean(),
  www: fc.constantFrom('keep', 'strip', 'add'),
  signedUrls: fc.constantFrom('bypass', 'ignore'),
  signedParams: fc.constant([]),
  canonicalRedirect: fc.constantFrom<'off' | 301 | 308>('off', 301, 308),
  localeRedirect: fc.constantFrom(null, { default: 'en', locales: ['en', 'zh'] }),
  noVarySearch: fc.constantFrom('off', 'learn', 'emit'),
});

const anyTracking = fc.constantFrom(
  undefined,
  { strip: false },
  { params: [] },
  { params: ['a', 'u*'].map(pattern) },
  { paramsAdd: ['~^x'].map(pattern) },
  { paramsRemove: ['ref'].map(pattern) },
  { paramsKeep: ['a', 'b'].map(pattern) },
);

const anyPolicy = fc
  .tuple(anyNormalization, anyTracking)
  .map(([normalization, block]) =>
    effectivePolicy(normalization, resolveTracking(DEFAULT_TRACKING, block, 'host')),
  );

const anyRule: fc.Arbitrary<Rule> = fc
  .record({
    match: fc.constantFrom('/a', '/a/', '/a/*', '*', '/b', '*.html', '/', '~b$', '~*^/A', '/a/b'),
    query: fc.constantFrom(null, 'a', 'ref', 'x'),
    priority: fc.constantFrom(0, 1),
    order: fc.nat(9),
    isBlocked: fc.boolean(),
    policy: anyPolicy,
  })
  .map(({ match, query, isBlocked, ...rest }) =>
    rule(match, {
      ...rest,
      ...(isBlocked ? { action: 'status', status: BLOCK } : {}),
      query: query === null ? [] : [{ name: query, values: [pattern('*')] }],
    }),
  );

/** One rule takes away what brings up the next. */
const CHAINS = (['remove', 'add', 'preserve'] as const).map((trailingSlash) =>
  Array.from({ length: 14 }, (_unused, place) => {
    const policy = effectivePolicy({ defaultDocuments: [`k${place}`], trailingSlash });
    return [rule(`*/k${place}`, { policy }), rule(`*/k${place}/`, { policy })];
  }).flat(),
);
const chainRules: fc.Arbitrary<readonly Rule[]> = fc.constantFrom([], ...CHAINS);

const anyHost: fc.Arbitrary<HostPolicy> = fc
  .record({ rules: fc.array(anyRule, { maxLength: 4 }), chain: chainRules, policy: anyPolicy })
  .map(({ rules, chain, policy }) =>
    hostPolicy({
      policy,
      rules: [...rules, ...chain],
      domains: ['example.com', 'www.example.com', '127.0.0.1', LONG_HOST],
    }),
  );

const hostText = fc.constantFrom(
  'example.com',
  'EXAMPLE.com.',
  'www.example.com',
  'www.www.example.com',
  LONG_HOST,
  'other.test:8080',
  'bücher.example',
  '[::1]:443',
  '0x7f.1',
  '0x7f.1%2e%2e',
  'example。com',
);
const pathText = fc
  .array(
    fc
      .constantFrom('a', 'b', 'B', '/', '//', '.', '..', '%2e', '%2F', '%', '%41', '%5c', '\\', 'é')
      .chain((part) => fc.constantFrom(part, `/${part}`)),
    { maxLength: 8 },
  )
  .map((parts) => `/${parts.join('')}`);
const chainText = fc
  .array(fc.nat(14), { maxLength: 20 })
  .map((places) => `/a${places.map((place) => `/k${place}`).join('')}`);
const longChain = `/a${Array.from({ length: 14 }, (_unused, place) => `/k${place}`).join('')}`;
const index = fc.constantFrom('', '/', '/index.html', '/index.html/index.html', '/a/', '/a/b');
const pieceText = fc
  .tuple(
    fc.constantFrom('a', 'b', 'A', 'ref', 'utm_source', 'x', '%61', 'é', '', '%ff', 'a+b', '%'),
    fc.constantFrom('', '=', '=1', '=2', '=+', '=%20', '=%2B', '=é', '=%zz', '==', '=;b=2', '= '),
  )
  .map(([name, value]) => name + value);
const queryText = fc
  .array(pieceText, { maxLength: 6 })
  .map((pieces) => (pieces.length === 0 ? '' : `?${pieces.join('&')}`));
const dirtyUrl = fc
  .tuple(
    fc.constantFrom('https://', 'HTTP://', '//', ''),
    hostText,
    fc.oneof(pathText, index, chainText, fc.constant(longChain)),
    queryText,
  )
  .map((parts) => parts.join(''));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  dirtyUrl,
  fc.tuple(dirtyUrl, fc.string({ maxLength: 10 })).map((parts) => parts.join('')),
);

function normalizerFor(host: HostPolicy): (url: string) => string | { readonly error: string } {
  const decider = createDecider(policySet(host), hashText);
  return (url) => {
    const decision = decider.decide(
      { url, method: 'GET', userAgent: 'Googlebot', hasAuthorization: false },
      null,
    );
    return decision.error === null ? decision.normalized : { error: decision.error };
  };
}

const canonicalHost = hostPolicy({ domains: ['example.com'] });
const normalize = normalizerFor(canonicalHost);

describe('normalization', () => {
  test('is idempotent for any text under any policy', () => {
    fc.assert(
      fc.property(anyHost, anyText, (host, text) => {
        const normalizeAny = normalizerFor(host);
        const once = normalizeAny(text);
        if (typeof once === 'string') expect(normalizeAny(once)).toBe(once);
      }),
      { numRuns: 20_000 },
    );
  }, 60_000);

  test('gives ASCII that a URL parser reads back unchanged', () => {
    fc.assert(
      fc.property(anyHost, anyText, (host, text) => {
        const url = normalizerFor(host)(text);
        if (typeof url !== 'string') return;
        expect(url).toMatch(/^https?:\/\/[\u0021-\u007e]+$/);
        expect(new URL(url).host).toBe(url.split('/')[2]?.split('?')[0]);
      }),
      RUNS,
    );
  });

  test('does not depend on the order of different names', () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.constantFrom(...'bcdefg'), fc.nat(9)), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(pairs, fc.nat(), (list, seed) => {
        const shuffled = list.toSorted(([a], [b]) => hash(a + seed) - hash(b + seed));
        const write = (some: typeof list) =>
          some.map(([name, value]) => `${name}=${value}`).join('&');
        expect(normalize(`example.com/?${write(shuffled)}`)).toBe(
          normalize(`example.com/?${write(list)}`),
        );
      }),
      RUNS,
    );
  });

  test('keeps the order of the values of one name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (values, z) => {
          const pieces = values.map((value) => `n=${value}`);
          const query = z ? ['z=1', ...pieces].join('&') : pieces.join('&');
          const expected = z ? [...pieces, 'z=1'].join('&') : pieces.join('&');
          expect(normalize(`example.com/?${query}`)).toBe(`https://example.com/?${expected}`);
        },
      ),
      RUNS,
    );
  });

  test('is not changed by adding a stripped name anywhere', () => {
    const stripped = fc.constantFrom('utm_source=x', 'GCLID', '%72ef=1', 'fbclid=a%26b');
    fc.assert(
      fc.property(queryText, stripped, fc.nat(6), (query, extra, at) => {
        // Outer spaces are trimmed; here they would be inner ones.
        fc.pre(!query.endsWith(' '));
        const pieces = query === '' ? [] : query.slice(1).split('&');
        const more = pieces.toSpliced(at, 0, extra);
        expect(normalize(`example.com/?${more.join('&')}`)).toBe(normalize(`example.com/${query}`));
      }),
      RUNS,
    );
  });

  test('never takes %2F for a slash', () => {
    fc.assert(
      fc.property(anyHost, pathText, (host, path) => {
        const count = (text: string) => text.toUpperCase().split('%2F').length;
        const url = normalizerFor(host)(`example.com/q%2Fr${path.replace(/\.|%2e/gi, '')}`);
        if (typeof url === 'string') expect(count(url)).toBeGreaterThan(1);
      }),
      RUNS,
    );
    expect(normalize('example.com/a%2Fb')).not.toBe(normalize('example.com/a/b'));
  });

  test('answers every byte string within its named errors', () => {
    const errors = new Set(
      'control_char too_long too_many_params unsupported_scheme missing_host credentials invalid_host invalid_port'.split(
        ' ',
      ),
    );
    fc.assert(
      fc.property(anyHost, anyText, (host, text) => {
        const result = normalizerFor(host)(text);
        if (typeof result !== 'string') expect(errors).toContain(result.error);
      }),
      RUNS,
    );
  });

  test('a redirect to the canonical URL is never redirected again', () => {
    fc.assert(
      fc.property(anyHost, dirtyUrl, (host, text) => {
        const decider = createDecider(policySet(host), hashText);
        const ask = (url: string) =>
          decider.decide({ url, method: 'GET', userAgent: '', hasAuthorization: false }, null);
        const first = ask(text);
        if (first.reason !== 'canonical_redirect') return;
        const location = first.status?.headers[0]?.[1] ?? '';
        expect(ask(location).reason).not.toBe('canonical_redirect');
      }),
      RUNS,
    );
  });
});

test('neutral options change nothing', () => {
  expect(canonicalHost.policy.normalization).toEqual(NEUTRAL_NORMALIZATION);
});

function hash(text: string): number {
  let value = 0;
  for (const char of text) value = (value * 31 + char.charCodeAt(0)) % 9973;
  return value;
}
