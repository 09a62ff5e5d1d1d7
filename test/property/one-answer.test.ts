// However a URL is read, it is one: what is remembered, pointed at instead of copied, or encoded in
// one pass gives exactly what the plain way gives, for arbitrary texts and policies.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import loadXxhash from 'xxhash-wasm';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { createDecider, type Decider } from '../../src/core/decision/create-decider.ts';
import { resolvePath } from '../../src/core/url/normalize-path.ts';
import { compareNames, makeName } from '../../src/core/url/param-name.ts';
import { decodeForm, encodeBytes, toByteString } from '../../src/core/url/percent-encoding.ts';
import { createSheet, FORM, FORM_LITERAL_PLUS } from '../../src/core/url/sheet.ts';
import { policySet } from '../helpers/policies.ts';
import { anyHost, anyText, dirtyUrl, pathText } from './any-host.ts';

const hashText = (text: string): string => text;

function ask(decider: Decider, url: string, isTraced: boolean): unknown {
  const request = { url, method: 'GET', userAgent: 'Googlebot', hasAuthorization: false };
  const { steps: _steps, ...decision } = decider.decide(request, isTraced ? [] : null);
  return decision;
}

describe('a decision', () => {
  const visits = fc.array(fc.oneof(dirtyUrl, anyText), { minLength: 1, maxLength: 8 });

  test('does not depend on what was asked before, nor on whether it is explained', () => {
    fc.assert(
      fc.property(anyHost, visits, (host, urls) => {
        const policies = policySet(host);
        const experienced = createDecider(policies, hashText);
        // Twice, so that the second time everything that is remembered is known.
        for (const url of [...urls, ...urls]) {
          const plain = ask(createDecider(policies, hashText), url, true);
          expect(ask(experienced, url, false)).toEqual(plain);
        }
      }),
      { numRuns: 2_000 },
    );
  }, 60_000);

  test('is the same in the middle of a thousand parameters', () => {
    const host = anyHost;
    const names = fc.array(fc.stringMatching(/^[a-c%+é]{0,8}$/), { maxLength: 200 });
    fc.assert(
      fc.property(host, names, (one, list) => {
        const policies = policySet(one);
        const url = `example.com/?${list.map((name, place) => `${name}=${place % 7}`).join('&')}`;
        const plain = ask(createDecider(policies, hashText), url, true);
        expect(ask(createDecider(policies, hashText), url, false)).toEqual(plain);
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});

describe('encoding in one pass', () => {
  const sheet = createSheet();
  const pieces = fc.constantFrom(
    'a',
    '%',
    '%4',
    '%41',
    '%c3',
    '%A9',
    '+',
    ' ',
    'é',
    '😀',
    '\ud800',
  );
  const value = fc.oneof(
    fc.string(),
    fc.array(pieces).map((list) => list.join('')),
  );

  test.each([
    ['space', FORM, true],
    ['literal', FORM_LITERAL_PLUS, false],
  ] as const)('is decoding and encoding, plus %s', (_name, rules, plusIsSpace) => {
    fc.assert(
      fc.property(value, (text) => {
        const bytes = new TextEncoder().encode(`${text}#`);
        sheet.start(bytes);
        sheet.encode(0, bytes.length - 1, rules);
        const plain = encodeBytes(decodeForm(toByteString(text), plusIsSpace));
        expect(sheet.read()).toBe(plain);
      }),
      { numRuns: 5_000 },
    );
  });
});

test('slashes and dot segments go as if one after the other', () => {
  const resolve = (path: string): string => {
    const kept: string[] = [];
    const segments = path.split('/').slice(1);
    for (const [index, segment] of segments.entries()) {
      if (segment === '..') kept.pop();
      if (segment !== '.' && segment !== '..') kept.push(segment);
      else if (index === segments.length - 1) kept.push('');
    }
    return `/${kept.join('/')}`;
  };
  fc.assert(
    fc.property(pathText, (path) => {
      expect(resolvePath(path)).toBe(resolve(path.replace(/\/{2,}/g, '/')));
      expect(resolvePath(path, false)).toBe(resolve(path));
    }),
    { numRuns: 5_000 },
  );
});

test('names compare as their bytes do', () => {
  const bytes = fc.string({
    unit: fc.constantFrom('a', 'b', '\u0000', '\u00ff', '\u007f', 'aaaa'),
    maxLength: 9,
  });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const plain = a < b ? -1 : a > b ? 1 : 0;
      expect(Math.sign(compareNames(makeName(a), makeName(b)))).toBe(plain);
    }),
    { numRuns: 5_000 },
  );
});

test('hashes are written as their library writes them', async () => {
  const [hasher, xxhash] = await Promise.all([createHasher(), loadXxhash()]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(hasher.text(text)).toBe(xxhash.h64ToString(text));
      expect(hasher.bytes(new TextEncoder().encode(text))).toBe(xxhash.h64ToString(text));
    }),
    { numRuns: 2_000 },
  );
});
