// The plan of a request: who wins when several things apply. spec: request-flow, "Precedence".

import { describe, expect, test } from 'vitest';
import { formatExplanation } from '../../src/cli/format-explanation.ts';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import { explainDecision } from '../../src/core/decision/explain-decision.ts';
import type { Trace } from '../../src/core/url/trace.ts';
import { effectivePolicy, hostPolicy, pattern, policySet, rule } from '../helpers/policies.ts';
import { decide, GOOGLEBOT, host, PERSON } from './decide.ts';

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

test('the scheme of the host is a step, and so is the port that goes with it', () => {
  const trace: Trace = [];
  const decider = createDecider(policySet({ ...host, scheme: 'http' }), (text) => text);
  const question = { method: 'GET', userAgent: GOOGLEBOT, hasAuthorization: false };
  const { normalized } = decider.decide({ url: 'https://example.com:80/p', ...question }, trace);
  expect(normalized).toBe('http://example.com/p');
  expect(trace).toEqual([
    { step: 'scheme', before: 'https', after: 'http' },
    { step: 'port', before: ':80', after: '' },
  ]);
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
  const partial = explainDecision(decision, { state: 'fresh', isPartial: true });
  expect(formatExplanation(partial)).toMatch(/^cached +fresh, partial: it was not ready/m);
  const explanation = explainDecision(decision, { state: 'stale', isPartial: false });
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
    'scheme',
    'query_encoding',
    'strip',
    'sort',
  ]);
});
