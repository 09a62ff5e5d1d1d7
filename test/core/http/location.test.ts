// Location values: always ASCII, never a header of their own, never an inner address.
import { describe, expect, it } from 'vitest';
import {
  encodeLatin1Location,
  encodeLocation,
  publishLocation,
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
  ])('%s → %s', (location, expected) => {
    expect(publishLocation(location, inner, 'https://site.test')).toBe(expected);
  });
});
