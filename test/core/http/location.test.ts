// Location values: always ASCII, never a header of their own, never an inner address.
import { describe, expect, it } from 'vitest';
import {
  encodeLatin1Location,
  encodeLocation,
  publishLocation,
  publishRefresh,
} from '../../../src/core/http/location.ts';

describe('encodeLocation', () => {
  it.each<[string, string | null]>([
    ['/a', '/a'],
    [' /a ', '/a'],
    ['/a b', '/a%20b'],
    ['/ä?q=日本#é', '/%C3%A4?q=%E6%97%A5%E6%9C%AC#%C3%A9'],
    ['/%C3%A4%2F', '/%C3%A4%2F'],
    ['/😀', '/%F0%9F%98%80'],
    ['/a\r\nSet-Cookie: b', null],
    ['/a\nb', null],
    ['/a\0', null],
    ['/a\tb', null],
    ['/a\x7f', null],
    ['', null],
    ['  ', null],
  ])('%j → %j', (text, expected) => {
    expect(encodeLocation(text)).toBe(expected);
    const bytes = Buffer.from(text).toString('latin1');
    expect(encodeLatin1Location(bytes)).toBe(expected);
  });

  it('keeps bytes that are no UTF-8 as they are', () => {
    expect(encodeLatin1Location('/\xe4')).toBe('/%E4');
  });
});

describe('publishLocation', () => {
  const inner = ['http://127.0.0.1:3000', 'https://inner.test'];
  it.each([
    ['http://127.0.0.1:3000/a?b', 'https://site.test/a?b'],
    ['http://127.0.0.1:3000', 'https://site.test'],
    ['HTTPS://Inner.Test?x', 'https://site.test?x'],
    ['http://127.0.0.1:30001/a', 'http://127.0.0.1:30001/a'],
    ['https://inner.test.evil/a', 'https://inner.test.evil/a'],
    ['https://other.test/a', 'https://other.test/a'],
    ['/a', '/a'],
    ['//127.0.0.1:3000/in', 'https://site.test/in'],
    ['https://127.0.0.1:3000/in', 'https://site.test/in'],
    ['HTTP://me@127.0.0.1:3000/in', 'https://site.test/in'],
    ['http://inner.test:80/in', 'https://site.test/in'],
    ['//inner.test:443/in', 'https://site.test/in'],
    ['//other.test/http://127.0.0.1:3000/', '//other.test/http://127.0.0.1:3000/'],
  ])('%s → %s', (location, expected) => {
    expect(publishLocation(location, inner, 'https://site.test')).toBe(expected);
  });

  it.each([
    ['http://site.test/a', 'http://site.test/a'],
    ['https://site.test/a', 'http://site.test/a'],
    ['//site.test/a', '//site.test/a'],
  ])('%s behind an inner https://site.test → %s', (location, expected) => {
    const published = publishLocation(location, ['https://site.test'], 'http://site.test');
    expect(published).toBe(expected);
  });
});

describe('publishRefresh', () => {
  it.each([
    ['0; url=http://127.0.0.1:3000/in', '0; url=https://site.test/in'],
    ['0;URL="//127.0.0.1:3000"', '0;URL="https://site.test"'],
    ["1.5 , url = 'https://127.0.0.1:3000/a?b'", "1.5 , url = 'https://site.test/a?b'"],
    ['3; http://127.0.0.1:3000/in', '3; https://site.test/in'],
    ['0; url=/next', '0; url=/next'],
    ['5', '5'],
  ])('%s → %s', (value, expected) => {
    expect(publishRefresh(value, ['http://127.0.0.1:3000'], 'https://site.test')).toBe(expected);
  });
});
