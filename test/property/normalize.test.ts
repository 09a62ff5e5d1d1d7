// The promise of spec/url-and-key.md as laws, over random URLs and random policies.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { HostPolicy } from '../../src/core/policy/policy.ts';
import { hostPolicy, NEUTRAL_NORMALIZATION, policySet } from '../helpers/policies.ts';
import { anyHost, anyText, dirtyUrl, pathText, queryText } from './any-host.ts';

const RUNS = { numRuns: 3_000 };
const hashText = (text: string): string => text;

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
