// Rule, path and host name brought to agreement, also where rules hand a URL on to one another.
import { describe, expect, test } from 'vitest';
import { foldCase } from '../../src/core/pattern/fold-case.ts';
import { effectivePolicy, hostPolicy, rule } from '../helpers/policies.ts';
import { decide } from './decide.ts';

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
