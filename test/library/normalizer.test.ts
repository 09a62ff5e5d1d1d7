// The library, `edge-gateway/normalizer`: what each option does, links, raw mode, and that nothing throws.
// As its users import it, from the package, it is in package.test.ts.
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createNormalizer, type Normalizer, type NormalizerOptions } from '../../src/normalizer.ts';
import { runCommand } from '../cli/run-command.ts';
import { LINK_CASES, RFC_BASE, RFC_CASES } from './resolve-cases.ts';

let plain: Normalizer;
beforeAll(async () => {
  plain = await createNormalizer();
});

/** The URL, or the error's name. */
function answer(normalizer: Normalizer, url: string, base?: string): string {
  const result = normalizer.normalize(url, base);
  return result.ok ? result.url : result.error;
}

test('by default: the built-in list, the canonical form, what was done', () => {
  expect(plain.normalize('HTTPS://Example.com:443//path/./page?z=1&UTM_Source=x&a=2#top')).toEqual({
    ok: true,
    url: 'https://example.com/path/page?a=2&z=1',
    hash: '96ba2d5b7d32d005',
    stripped: [{ name: 'UTM_Source', pattern: 'utm_source', level: 'default' }],
    trace: [
      { step: 'fragment', before: '#top', after: '' },
      { step: 'scheme', before: 'HTTPS', after: 'https' },
      { step: 'host', before: 'Example.com', after: 'example.com' },
      { step: 'port', before: ':443', after: '' },
      { step: 'path', before: '//path/./page', after: '/path/page' },
      { step: 'strip', before: 'z=1&UTM_Source=x&a=2', after: 'z=1&a=2' },
      { step: 'sort', before: 'z=1&a=2', after: 'a=2&z=1' },
    ],
  });
  expect(plain.normalize('https://example.com/path/page?a=2&z=1')).toMatchObject({
    ok: true,
    stripped: [],
    trace: [],
  });
  expect(plain.normalize('ftp://example.com/')).toEqual({ ok: false, error: 'unsupported_scheme' });
});

describe('options', () => {
  const URL_TEXT = 'https://example.com/A//b/index.html?b=2&gclid=1&sid=3&a=%7e+1&ref=4&e=';
  // Options → the URL that comes out.
  const CASES: readonly (readonly [NormalizerOptions, string])[] = [
    [{}, '/A/b/index.html?a=~%201&b=2&e&sid=3'],
    [{ tracking_params: { strip: false } }, '/A/b/index.html?a=~%201&b=2&e&gclid=1&ref=4&sid=3'],
    [{ tracking_params: { params: ['s*'] } }, '/A/b/index.html?a=~%201&b=2&e&gclid=1&ref=4'],
    [{ tracking_params: { params_add: ['~^sid$'] } }, '/A/b/index.html?a=~%201&b=2&e'],
    [{ tracking_params: { params_remove: ['ref'] } }, '/A/b/index.html?a=~%201&b=2&e&ref=4&sid=3'],
    [{ tracking_params: { params_keep: ['b'] } }, '/A/b/index.html?b=2'],
    [{ tracking_params: { presets: ['click_ids'] } }, '/A/b/index.html?a=~%201&b=2&e&sid=3'],
    [{ normalization: { sort_query: false } }, '/A/b/index.html?b=2&sid=3&a=~%201&e'],
    [{ normalization: { empty_values: 'drop' } }, '/A/b/index.html?a=~%201&b=2&sid=3'],
    [{ normalization: { plus: 'literal' } }, '/A/b/index.html?a=~%2B1&b=2&e&sid=3'],
    [{ normalization: { collapse_slashes: false } }, '/A//b/index.html?a=~%201&b=2&e&sid=3'],
    [{ normalization: { trailing_slash: 'add' } }, '/A/b/index.html?a=~%201&b=2&e&sid=3'],
    [
      { normalization: { default_documents: ['index.html'], trailing_slash: 'remove' } },
      '/A/b?a=~%201&b=2&e&sid=3',
    ],
    [{ normalization: { default_values: { b: '2' } } }, '/A/b/index.html?a=~%201&e&sid=3'],
    [{ normalization: { lowercase_path: true } }, '/a/b/index.html?a=~%201&b=2&e&sid=3'],
  ];

  test.each(CASES)('%j', async (options, expected) => {
    const normalizer = await createNormalizer(options);
    expect(answer(normalizer, URL_TEXT)).toBe(`https://example.com${expected}`);
  });

  test('host_aliases', async () => {
    const normalizer = await createNormalizer({
      normalization: { host_aliases: { www: 'strip' } },
    });
    expect(answer(normalizer, 'www.example.com')).toBe('https://example.com/');
  });

  // What is wrong → what the TypeError names, one line each.
  const BAD: readonly (readonly [unknown, readonly string[]])[] = [
    [null, ['the options must be an object']],
    ['x', ['the options must be an object']],
    [[], ['the options must be an object']],
    [{ tracking: {} }, ['unknown key "tracking"']],
    [{ normalization: { sorted: true } }, ['unknown key "sorted"']],
    [{ normalization: { sort_query: 'no' } }, ['"sort_query" must be true or false']],
    [{ normalization: { plus: 'x' } }, ['"plus" must be one of space, literal']],
    [{ tracking_params: { params: 'a' } }, ['"params" must be a list']],
    [{ tracking_params: { params_add: ['~('] } }, ['bad regular expression']],
    [{ tracking_params: { params_add: [''] } }, ['empty pattern']],
    [{ tracking_params: { presets: ['nope'] } }, ['unknown preset "nope"']],
    [
      { tracking_params: { strip: 1, params_add: ['~'] }, normalization: { encoding: 'x' } },
      ['"strip"', '"encoding"'],
    ],
  ];

  test.each(BAD)('refuses %j', async (options, named) => {
    const refusal = await createNormalizer(options as NormalizerOptions).catch((e) => e);
    expect(refusal).toBeInstanceOf(TypeError);
    for (const name of named) expect(refusal.message).toContain(name);
    expect(refusal.message).not.toMatch(/^global:/m);
  });
});

describe('links', () => {
  test.each(RFC_CASES)(`on ${RFC_BASE}: %j → %s`, (link, expected) => {
    expect(answer(plain, link, RFC_BASE)).toBe(expected);
  });

  test.each(LINK_CASES)('on %j: %j → %s', (base, link, expected) => {
    expect(answer(plain, link, base)).toBe(expected);
  });

  test('without a page a relative link names no host', () => {
    expect(['/a', '?q', '#f', ''].map((link) => answer(plain, link))).toEqual(
      Array(4).fill('missing_host'),
    );
  });
});

describe('raw mode', () => {
  const NAMES = ['utm_source', 'gclid', 'ref'];
  let raw: Normalizer;
  beforeAll(async () => {
    raw = await createNormalizer({
      tracking_params: { params: NAMES },
      normalization: { encoding: 'preserve', sort_query: false },
    });
  });

  test.each([
    ['b=%7e+1&a=%c3%bc&&b=2&', 'b=%7e+1&a=%c3%bc&&b=2&'],
    ['z&y=&=x&gclid=1&%67clid=2&a=b=c', 'z&y=&=x&a=b=c'],
    ['sig=a%2Bb/c==&utm_source=x;y', 'sig=a%2Bb/c=='],
  ])('?%s → ?%s', (query, expected) => {
    expect(answer(raw, `https://example.com/?${query}`)).toBe(`https://example.com/?${expected}`);
  });

  test('removes the listed names and leaves every other byte', () => {
    const piece = fc
      .array(fc.constantFrom(...'aZ09-._~%+/;:@!$*(),'.split(''), '%2b', '%C3', 'utm_source'))
      .map((parts) => parts.join(''));
    const pair = fc
      .tuple(piece, fc.option(piece))
      .map(([name, value]) => (value === null ? name : `${name}=${value}`));
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
        const isKept = (text: string): boolean => !NAMES.includes(text.split('=', 1)[0] ?? '');
        const kept = pairs.filter(isKept).join('&');
        expect(answer(raw, `https://example.com/?${pairs.join('&')}`)).toBe(
          `https://example.com/${kept === '' ? '' : `?${kept}`}`,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

test('nothing throws, and what comes out is ASCII that comes out again', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          ...['http', 'https', '://', '//', ':', '/', '\\', '?', '#', '@', '&', '=', '.', '..'],
          ...['%', '%2F', '%zz', 'a', 'example.com', '[::1]', 'ü', '\ud800', ' ', '\n', 'utm_term'],
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, fc.option(text, { nil: undefined }), (url, base) => {
      const result = plain.normalize(url, base);
      if (!result.ok) {
        expect(result.error).toMatch(/^[a-z_]+$/);
        return;
      }
      expect(result.url).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
      expect(plain.normalize(result.url)).toMatchObject({ ok: true, url: result.url, trace: [] });
      // The page it was found on does not matter any more.
      expect(answer(plain, result.url, base ?? 'https://other.example/')).toBe(result.url);
    }),
    { numRuns: 2_000 },
  );
});

test('the command and the library give the same URL and hash', async () => {
  const urls = [
    'https://example.com/path/page?a=2&z=1',
    'EXAMPLE.com//a/../b?c=%7E&utm_term=1&ü=é',
    'http://[::1]:80/?b&a=&b=2',
    'ftp://x',
    'https://a@b/',
  ];
  const { stdout } = await runCommand(['normalize'], { stdin: Readable.from([urls.join('\n')]) });
  const lines = urls.map((url) => {
    const result = plain.normalize(url);
    return result.ok ? `${result.hash}\t${result.url}` : `error\t${result.error}`;
  });
  expect(stdout.trimEnd().split('\n')).toEqual(lines);
});
