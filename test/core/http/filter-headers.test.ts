// Which header fields cross which border.
import { describe, expect, it } from 'vitest';
import { parseCacheControl } from '../../../src/core/http/cache-control.ts';
import {
  dropNeverFilled,
  filterEndToEnd,
  filterFillRequest,
  filterStored,
} from '../../../src/core/http/filter-headers.ts';
import {
  fieldMembers,
  firstHeader,
  type HeaderList,
  headerValues,
  isFieldName,
  isFieldValue,
} from '../../../src/core/http/header-list.ts';

function names(headers: HeaderList): string[] {
  return headers.map(([name]) => name);
}

function fields(...list: readonly string[]): HeaderList {
  return list.map((name) => [name, 'x'] as const);
}

describe('header list', () => {
  const headers = [
    ['A', '1, 2'],
    ['b', '3'],
    ['a', ', 4 ,'],
    ['__proto__', 'p'],
  ] as const;

  it('finds values without regard to case, repeats in order', () => {
    expect(headerValues(headers, 'a')).toEqual(['1, 2', ', 4 ,']);
    expect(firstHeader(headers, 'a')).toBe('1, 2');
    expect(firstHeader(headers, '__proto__')).toBe('p');
    expect(firstHeader(headers, 'constructor')).toBeNull();
    expect(fieldMembers(headers, 'a')).toEqual(['1', '2', '4']);
  });

  it.each([
    ['x-a', true],
    ['X_1.~', true],
    ['', false],
    ['a b', false],
    ['a:', false],
    ['ä', false],
    ['a\n', false],
  ])('field name %j: %s', (text, expected) => expect(isFieldName(text)).toBe(expected));

  it.each([
    ['', true],
    ['a\tb \xe4', true],
    ['a\r\nb', false],
    ['a\0', false],
    ['\x7f', false],
    ['日', false],
  ])('field value %j: %s', (text, expected) => expect(isFieldValue(text)).toBe(expected));
});

describe('filterEndToEnd', () => {
  it('drops the hop-by-hop fields, the nominated ones and the framing', () => {
    const headers: HeaderList = [
      ['Connection', 'X-Hop, close'],
      ['connection', 'x-other'],
      ['X-Hop', '1'],
      ['X-Other', '1'],
      ...fields('Keep-Alive', 'Proxy-Connection', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade'),
      ...fields('Content-Length', 'Proxy-Authenticate', 'Content-Type', 'Set-Cookie', 'Set-Cookie'),
    ];
    expect(names(filterEndToEnd(headers))).toEqual(['Content-Type', 'Set-Cookie', 'Set-Cookie']);
  });

  it('lets no nomination hide what forbids storing', () => {
    const kept = ['Cache-Control', 'CDN-Cache-Control', 'Vary', 'Set-Cookie', 'Content-Type'];
    const headers: HeaderList = [['Connection', kept.join(', ')], ...fields(...kept)];
    expect(names(filterEndToEnd(headers))).toEqual(kept);
  });
});

describe('filterStored', () => {
  const all = ['content-type', 'location', 'etag', 'last-modified', 'set-cookie', 'x-tag', 'link'];
  const more = ['connection', 'www-authenticate', 'authorization', 'x-api-key', 'content-encoding'];
  const safe = new Set([...all, ...more, 'content-length', 'age']);

  it('keeps what the policy lists, less what no policy may list', () => {
    const headers = fields(...all, ...more, 'Content-Length', 'Age', 'X-Unlisted', 'Link');
    const kept = names(filterStored(headers, safe));
    expect(kept).toEqual(['content-type', 'location', 'x-tag', 'link', 'Link']);
  });

  it.each([
    ['no-cache="x-tag"', ['link']],
    ['no-cache="X-Tag, Link"', []],
    ['no-cache', ['x-tag', 'link']],
    ['max-age=0', ['x-tag', 'link']],
  ])('withholds what %s names', (value, kept) => {
    const headers: HeaderList = [['Cache-Control', value], ...fields('x-tag', 'link')];
    expect(names(filterStored(headers, safe))).toEqual(['Cache-Control', ...kept]);
  });

  it('keeps what is said of caching to any kind of cache, listed or not', () => {
    const said = ['Cache-Control', 'Expires', 'CDN-Cache-Control', 'Surrogate-Control'];
    const own = ['Cloudflare-CDN-Cache-Control', 'Edge-Control', 'X-Accel-Expires'];
    const headers = fields(...said, ...own, 'X-Cache-Control-Not');
    expect(names(filterStored(headers, new Set()))).toEqual([...said, ...own]);
  });

  it('drops a field that Connection nominates, listed or not', () => {
    const headers: HeaderList = [['Connection', 'x-tag'], ...fields('x-tag', 'link')];
    expect(names(filterStored(headers, safe))).toEqual(['link']);
  });
});

describe('what a fill may carry', () => {
  const never = [
    ...['Cookie', 'Authorization', 'Proxy-Authorization', 'If-None-Match', 'If-Modified-Since'],
    ...['If-Match', 'If-Range', 'If-Unmodified-Since', 'Range', 'Expect', 'Host', 'Forwarded'],
    ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Prefix', 'X-Original-URL'],
    ...['X-Rewrite-URL', 'X-Host', 'X-HTTP-Host-Override', 'Content-Type', 'Content-Length'],
    ...['Transfer-Encoding', 'Upgrade', 'TE', 'Via', 'User-Agent', 'Accept', 'Accept-Encoding'],
  ];

  it('is never a credential, a condition, a route or a frame, even when listed', () => {
    const headers = fields(...never, 'X-Country');
    const listed = new Set(names(headers).map((name) => name.toLowerCase()));
    expect(names(dropNeverFilled(headers))).toEqual(['X-Country']);
    expect(names(filterFillRequest(headers, listed))).toEqual(['X-Country']);
  });

  it('is only what the policy lists', () => {
    const headers = fields('X-Country', 'X-Other');
    expect(names(filterFillRequest(headers, new Set(['x-country'])))).toEqual(['X-Country']);
  });
});

describe('parseCacheControl', () => {
  it.each([
    ['', []],
    ['no-store', ['no-store:null']],
    ['Max-Age=60, Public', ['max-age:60', 'public:null']],
    ['private=', ['private:']],
    ['private="x", private', ['private:x', 'private:null']],
    ['private="a, no-store", b', ['private:a, no-store', 'b:null']],
    ['private="unclosed, no-store', ['private:unclosed, no-store', 'no-store:null']],
    [' , ,no-cache , ', ['no-cache:null']],
    ['=x, no-store', ['x:null', 'no-store:null']],
    ['no-cache="a\\"b", c', ['no-cache:a\\"b', 'c:null']],
    ['private; max-age=600', ['private:null']],
    ['no-cache; no-store; x', ['no-cache:null', 'no-store:null']],
    ['x=a private, y', ['x:a private', 'private:null', 'y:null']],
    ['x="a" private', ['x:a', 'private:null']],
    ['foo="bar, private', ['foo:bar, private', 'private:null']],
    ['foo="bar\\', ['foo:bar']],
    ['x-private="a, not-no-store', ['x-private:a, not-no-store']],
    ['"', [':null']],
  ])('%j', (value, expected) => {
    expect(parseCacheControl(value).map((one) => `${one.name}:${one.argument}`)).toEqual(expected);
  });
});
