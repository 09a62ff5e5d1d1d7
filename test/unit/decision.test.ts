// The plan of a request: who wins when several things apply. spec: request-flow, "Precedence".
import { describe, expect, test } from 'vitest';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { DecisionRequest } from '../../src/core/decision/decision.ts';
import { explainDecision } from '../../src/core/decision/explain-decision.ts';
import { foldCase } from '../../src/core/pattern/fold-case.ts';
import type { HostPolicy } from '../../src/core/policy/policy.ts';
import type { Trace } from '../../src/core/url/trace.ts';
import {
  BYPASS,
  DESKTOP,
  dimension,
  effectivePolicy,
  hostPolicy,
  pattern,
  policySet,
  rule,
} from '../helpers/policies.ts';

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1)';
const PERSON = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0';
const BLOCKED = dimension({
  id: 9,
  name: 'scrapers',
  action: 'block',
  matchUserAgent: [pattern('*badbot*')],
});
const PREVIEW = dimension({ id: 3, name: 'preview' });

const host = hostPolicy({
  dimensions: [BYPASS, DESKTOP, BLOCKED],
  rules: [
    rule('/admin/*', { action: 'status', status: { code: 403, reason: null, headers: [] } }),
    rule('/raw/*', { action: 'bypass' }),
    rule('/shop/*', { action: 'render' }),
    rule('/feed.xml', { action: 'render' }),
    rule('/cards/*', { action: 'render', dimension: PREVIEW }),
    rule('/post', {
      methods: new Set(['POST']),
      action: 'status',
      status: { code: 405, reason: null, headers: [] },
    }),
  ],
});

function decide(
  request: Partial<DecisionRequest> & { readonly url: string },
  on: HostPolicy = host,
) {
  const full = { method: 'GET', userAgent: GOOGLEBOT, hasAuthorization: false, ...request };
  return createDecider(policySet(on), (text) => text).decide(full, null);
}

describe('the plan', () => {
  test.each([
    ['a crawler on a page', { url: 'example.com/' }, 'render', 'dimension'],
    [
      'a person on a page',
      { url: 'example.com/', userAgent: PERSON },
      'bypass',
      'unmatched_dimension',
    ],
    [
      'a person under a render rule',
      { url: 'example.com/shop/1', userAgent: PERSON },
      'bypass',
      'unmatched_dimension',
    ],
    ['a crawler under a render rule', { url: 'example.com/shop/1' }, 'render', 'rule'],
    [
      'anyone under a render rule with a dimension',
      { url: 'example.com/cards/1', userAgent: PERSON },
      'render',
      'rule',
    ],
    ['a crawler under a bypass rule', { url: 'example.com/raw/1' }, 'bypass', 'rule'],
    [
      'a blocked client',
      { url: 'example.com/', userAgent: 'BadBot/1' },
      'status',
      'block_dimension',
    ],
    [
      'a blocked client under a status rule',
      { url: 'example.com/admin/', userAgent: 'BadBot/1' },
      'status',
      'block_dimension',
    ],
    ['a status rule', { url: 'example.com/admin/x' }, 'status', 'status_rule'],
    ['a status rule by doubled slashes', { url: 'example.com//admin//x' }, 'status', 'status_rule'],
    ['a status rule by encoded letters', { url: 'example.com/%61dmin/x' }, 'status', 'status_rule'],
    [
      'a status rule by dot segments',
      { url: 'example.com/x/%2e%2e/admin/x' },
      'status',
      'status_rule',
    ],
    [
      'a status rule by a backslash',
      { url: 'example.com/x\\..\\admin\\x' },
      'status',
      'status_rule',
    ],
    [
      'a status rule as an origin resolves it that keeps slashes',
      { url: 'example.com/admin//../secret', userAgent: PERSON },
      'status',
      'status_rule',
    ],
    [
      'a status rule as an origin resolves it that collapses slashes last',
      { url: 'example.com//admin//../secret', userAgent: PERSON },
      'status',
      'status_rule',
    ],
    [
      'slashes and dots that name no ruled page either way',
      { url: 'example.com/x//../admins' },
      'render',
      'dimension',
    ],
    ['an encoded slash is not the rule', { url: 'example.com/admin%2Fx' }, 'render', 'dimension'],
    [
      'a status rule for people too',
      { url: 'example.com/admin/x', userAgent: PERSON },
      'status',
      'status_rule',
    ],
    ['a rule for another method', { url: 'example.com/post' }, 'render', 'dimension'],
    [
      'a rule for this method',
      { url: 'example.com/post', method: 'POST' },
      'status',
      'status_rule',
    ],
    ['an unsafe method', { url: 'example.com/', method: 'POST' }, 'bypass', 'method'],
    [
      'a request with credentials',
      { url: 'example.com/', hasAuthorization: true },
      'bypass',
      'authorization',
    ],
    [
      'a signed URL',
      { url: 'example.com/f?X-Amz-Signature=1&X-Amz-Date=2' },
      'bypass',
      'signed_url',
    ],
    ['a signed URL in small letters', { url: 'example.com/f?sig=1&SE=2' }, 'bypass', 'signed_url'],
    ['half a signature', { url: 'example.com/f?sig=1' }, 'render', 'dimension'],
    ['a style sheet', { url: 'example.com/app.css' }, 'bypass', 'not_a_page'],
    ['a feed that a rule wants rendered', { url: 'example.com/feed.xml' }, 'render', 'rule'],
    ['another host', { url: 'other.example/' }, 'status', 'unknown_host'],
    ['no URL at all', { url: '/x' }, 'status', 'invalid_url'],
  ])('%s', (_name, request, action, reason) => {
    const decision = decide(request);
    expect([decision.action, decision.reason]).toEqual([action, reason]);
  });

  test('the key has the public scheme, however the request came', () => {
    const urls = [
      'http://example.com/a',
      'https://example.com/a',
      'http://example.com:443/a',
      'http://example.com:80/a',
    ];
    expect(urls.map((url) => decide({ url }).normalized)).toEqual(
      urls.map(() => 'https://example.com/a'),
    );
  });

  test('a host that is not enabled is not there', () => {
    expect(decide({ url: 'example.com/' }, { ...host, enabled: false }).reason).toBe(
      'unknown_host',
    );
  });
});

describe('canonical redirects', () => {
  const canonical = hostPolicy({
    domains: ['example.com'],
    policy: effectivePolicy({ canonicalRedirect: 301, www: 'strip', trailingSlash: 'remove' }),
  });
  const localized = hostPolicy({
    policy: effectivePolicy({
      canonicalRedirect: 308,
      localeRedirect: { default: 'en', locales: ['en', 'zh'] },
    }),
  });

  test.each([
    [
      'another host name',
      canonical,
      'www.example.com/a?utm_source=x&b=1&a',
      'https://example.com/a?utm_source=x&b=1&a',
    ],
    ['a trailing slash', canonical, 'example.com/a/', 'https://example.com/a'],
    ['doubled slashes', canonical, 'example.com//a', 'https://example.com/a'],
    [
      'doubled slashes that look like a host',
      canonical,
      'example.com//evil.test/%2e%2e',
      'https://example.com/',
    ],
    ['the canonical URL', canonical, 'example.com/a?b=1&a=2', null],
    ['another encoding', canonical, 'example.com/%61?q=a%2fb', null],
    ['lower-case hex', canonical, 'example.com/%c3%a9', null],
    [
      'a line break in the path',
      canonical,
      'example.com/%0d%0aX:%20y/',
      'https://example.com/%0D%0AX:%20y',
    ],
    ['no locale', localized, 'example.com/about?x=1', 'https://example.com/en/about?x=1'],
    ['a locale', localized, 'example.com/zh/about', null],
    ['a file', localized, 'example.com/robots.txt', null],
  ])('%s', (_name, on, url, location) => {
    const decision = decide({ url, userAgent: PERSON }, on);
    expect(decision.status?.headers[0]?.[1] ?? null).toBe(location);
  });

  test.each(['POST', 'PUT'])('never for %s', (method) => {
    expect(decide({ url: 'example.com/a/', method }, canonical).action).toBe('bypass');
  });
});

describe('rules', () => {
  const byQuery = hostPolicy({
    rules: [
      rule('/s', { id: 'with', query: [{ name: 'q', values: [pattern('*')] }] }),
      rule('/s', {
        id: 'one-of',
        query: [{ name: 'lang', values: [pattern('de'), pattern('f*')] }],
      }),
      rule('/s', { id: 'without' }),
      rule('/s*', { id: 'wildcard' }),
      rule('~^/s', { id: 'regexp' }),
      rule('/st/*', { id: 'deeper' }),
      rule('/über*', { id: 'encoded' }),
      rule('~x$', { id: 'first', priority: 5 }),
    ],
  });

  test.each([
    ['example.com/s?q=1', 'with'],
    ['example.com/s?q=', 'without'],
    ['example.com/s?q&q=2', 'with'],
    ['example.com/s?lang=FR', 'one-of'],
    ['example.com/s?%6Cang=de', 'one-of'],
    ['example.com/S', 'without'],
    ['example.com/se', 'wildcard'],
    ['example.com/st/1', 'deeper'],
    ['example.com/%C3%BCber-uns', 'encoded'],
    ['example.com/sx', 'first'],
    ['example.com/other', null],
  ])('%s is for %s', (url, id) => {
    const decision = decide({ url }, byQuery);
    expect(decision.error === null ? (decision.rule?.id ?? null) : decision.error).toBe(id);
  });
});

test('a condition on a parameter holds however many stand before it', () => {
  const on = hostPolicy({
    rules: [rule('*', { id: 'q', query: [{ name: 'q', values: [pattern('*')] }] })],
  });
  const policies = { ...policySet(on), limits: { urlBytesMax: 8_192, paramsMax: 5_000 } };
  const decision = createDecider(policies, (text) => text).decide(
    {
      url: `example.com/?${'a&'.repeat(1_500)}q=1`,
      method: 'GET',
      userAgent: PERSON,
      hasAuthorization: false,
    },
    null,
  );
  expect(decision.error === null ? decision.rule?.id : decision.error).toBe('q');
});

describe('rules that hand a URL on', () => {
  const names = Array.from({ length: 60 }, (_unused, index) => `k${index}`);
  const chain = hostPolicy({
    rules: [
      ...names.map((name) =>
        rule(`*/${name}`, {
          policy: effectivePolicy({ defaultDocuments: [name], trailingSlash: 'remove' }),
        }),
      ),
      rule('/secret', { action: 'status', status: { code: 403, reason: null, headers: [] } }),
    ],
  });

  test('settle at the end of a long chain', () => {
    expect(decide({ url: `example.com/a/${names.join('/')}` }, chain).normalized).toBe(
      'https://example.com/a',
    );
  });

  test('meet the status rule at the end of it', () => {
    const decision = decide({ url: `example.com/secret/${names.join('/')}` }, chain);
    expect([decision.reason, decision.normalized]).toEqual([
      'status_rule',
      'https://example.com/secret',
    ]);
  });

  test('take a hostile URL in bounded time', () => {
    const url = `example.com/secret${'/k1/k2'.repeat(1_200)}`;
    expect(decide({ url }, chain).reason).toBe('status_rule');
  });
});

test('the URL of a status rule is agreed upon too', () => {
  const on = hostPolicy({
    rules: [
      rule('/gone/', {
        action: 'status',
        status: { code: 410, reason: null, headers: [] },
        policy: effectivePolicy({ trailingSlash: 'remove', sortQuery: false }),
      }),
    ],
  });
  const first = decide({ url: 'example.com/gone/?b=1&a=2' }, on);
  expect([first.reason, first.normalized]).toEqual([
    'status_rule',
    'https://example.com/gone?a=2&b=1',
  ]);
});

describe('characters outside ASCII in parameters', () => {
  test.each([
    ['a byte order mark', '%EF%BB%BFref=1'],
    ['a Kelvin sign', '_%E2%84%AAe=1'],
    ['a byte order mark in a value', 'sort=%EF%BB%BFrelevance'],
  ])('%s makes another name or value', (_name, query) => {
    const on = hostPolicy({
      policy: effectivePolicy({ defaultValues: new Map([['sort', 'relevance']]) }),
    });
    expect(decide({ url: `example.com/?${query}` }, on).normalized).toBe(
      `https://example.com/?${query}`,
    );
  });

  test.each([
    ['K\u212a', 'k\u212a'],
    ['\u0130I', '\u0130i'],
    ['ÜBER', 'über'],
  ])('%j folds to %j', (text, folded) => {
    expect(foldCase(text)).toBe(folded);
  });
});

describe('names with and without www', () => {
  const long = `${'a'.repeat(60)}.`.repeat(4).slice(0, -1).concat('.example');

  test('a name that www. would make too long stays', () => {
    expect(long.length).toBeGreaterThan(249);
    const on = hostPolicy({ domains: [long], policy: effectivePolicy({ www: 'add' }) });
    expect(decide({ url: `${long}/a` }, on).normalized).toBe(`https://${long}/a`);
  });

  test('a host answers for the name it gives its pages, however many www. it has', () => {
    const on = hostPolicy({
      domains: ['www.www.example.com'],
      policy: effectivePolicy({ www: 'strip', sortQuery: false }),
    });
    const once = decide({ url: 'www.www.example.com/?b&a' }, on).normalized;
    expect(once).toBe('https://example.com/?b&a');
    expect(decide({ url: 'https://example.com/?b&a' }, on).normalized).toBe(once);
  });
});

test('an explanation names the steps, the pattern and the level', () => {
  const trace: Trace = [];
  const decision = createDecider(policySet(host), () => '0123456789abcdef').decide(
    {
      url: 'HTTP://EXAMPLE.com:80//a/?z=1&GCLID=x&a=%c3%a9',
      method: 'GET',
      userAgent: GOOGLEBOT,
      hasAuthorization: false,
    },
    trace,
  );
  const explanation = explainDecision(decision, 'stale');
  expect(explanation).toMatchObject({
    normalized: 'https://example.com/a/?a=%C3%A9&z=1',
    key: 'cache:1:1:0123456789abcdef',
    file: '0123456789abcdef_1.html',
    would: 'refresh',
    dimension: { id: 1, name: 'desktop', matched_by: '*Googlebot*' },
    stripped: [{ name: 'GCLID', pattern: 'gclid', level: 'default' }],
  });
  expect(explanation.steps.map(({ step }) => step)).toEqual([
    'scheme',
    'host',
    'port',
    'path',
    'query_encoding',
    'strip',
    'sort',
  ]);
});
