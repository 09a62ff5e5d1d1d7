// Random hosts, rules and policies, and random URLs for them, from well-formed to no text at all.
import fc from 'fast-check';
import type { HostPolicy, NormalizationPolicy, Rule } from '../../src/core/policy/policy.ts';
import { resolveTracking } from '../../src/core/tracking/resolve-tracking.ts';
import {
  DEFAULT_TRACKING,
  effectivePolicy,
  hostPolicy,
  pattern,
  rule,
} from '../helpers/policies.ts';

/** Too long for another `www.`. */
const LONG_HOST = `${'a'.repeat(60)}.`.repeat(4).concat('example');
const BLOCK = { code: 403, reason: null, headers: [] };

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

export const anyHost: fc.Arbitrary<HostPolicy> = fc
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
export const pathText = fc
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
export const queryText = fc
  .array(pieceText, { maxLength: 6 })
  .map((pieces) => (pieces.length === 0 ? '' : `?${pieces.join('&')}`));
export const dirtyUrl = fc
  .tuple(
    fc.constantFrom('https://', 'HTTP://', '//', ''),
    hostText,
    fc.oneof(pathText, index, chainText, fc.constant(longChain)),
    queryText,
  )
  .map((parts) => parts.join(''));
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  dirtyUrl,
  fc.tuple(dirtyUrl, fc.string({ maxLength: 10 })).map((parts) => parts.join('')),
);
