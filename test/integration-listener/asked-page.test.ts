// The URL inside of a pull request's target, in every spelling that proxies and middlewares send.
import { describe, expect, it } from 'vitest';
import {
  parseAskedPage,
  readUrlParameter,
  readUrlPath,
} from '../../src/server/integration/asked-page.ts';

const encoded = encodeURIComponent;

describe('the url parameter', () => {
  it.each<[string, string, string | null]>([
    ['nginx, written out', 'url=https://h/p?a=1&b=2', 'https://h/p?a=1&b=2'],
    ['and its escapes stay', 'url=https://h/a%2Fb?q=a%26b+c%2B', 'https://h/a%2Fb?q=a%26b+c%2B'],
    ['an url= of the page', 'url=https://h/p?url=https://x/', 'https://h/p?url=https://x/'],
    ['encoded', `url=${encoded('https://h/p?a=1&b=2')}`, 'https://h/p?a=1&b=2'],
    [
      'encoded escapes lose one layer',
      `url=${encoded('https://h/a%2Fb?q=%26')}`,
      'https://h/a%2Fb?q=%26',
    ],
    ['encoded, more behind it', `url=${encoded('https://h/p?a=1')}&x=2`, 'https://h/p?a=1'],
    [
      'encoded, a URL in its query',
      `url=${encoded('https://h/?u=https://x/')}`,
      'https://h/?u=https://x/',
    ],
    [
      'encoded behind the scheme (Caddy)',
      'url=https://h%2Fp%3Fa%3D1%26b%3D2',
      'https://h/p?a=1&b=2',
    ],
    ['encoded, a plus', `url=${encoded('https://h/?q=a+b')}`, 'https://h/?q=a+b'],
    ['encoded but for the plus', 'url=https%3A%2F%2Fh%2F%3Fq%3Da+b', 'https://h/?q=a+b'],
    ['not the first parameter', 'x=1&url=https://h/p?a=1&b=2', 'https://h/p?a=1&b=2'],
    ['not its name', 'curl=https://h/', null],
    ['empty', 'url=', ''],
    ['none', '', null],
  ])('%s', (_what, query, expected) => {
    expect(readUrlParameter(query)).toBe(expected);
  });
});

describe('the prerender path', () => {
  it.each<[string, string, string | null]>([
    ['as the contract says', '/https://h/p?a=1&b=2', 'https://h/p?a=1&b=2'],
    ['one slash collapsed', '/http:/h/p', 'http://h/p'],
    ['two slashes before it', '//https://h/p', 'https://h/p'],
    ['escapes stay', '/https://h/a%2Fb?q=%26+', 'https://h/a%2Fb?q=%26+'],
    ['encoded whole', `/${encoded('https://h/p?a=1&b=%2F')}`, 'https://h/p?a=1&b=%2F'],
    ['path encoded, query not', '/https%3A%2F%2Fh%2Fp?a=%26', 'https://h/p?a=%26'],
    [
      'a second question mark',
      '/https://h/?a=1?_escaped_fragment_=',
      'https://h/?a=1?_escaped_fragment_=',
    ],
    ['the mark of old crawlers', '/https://h/p?_escaped_fragment_=', 'https://h/p'],
    ['without its =', '/https://h/p?a=1&_escaped_fragment_', 'https://h/p?a=1'],
    [
      'with a value it names a page',
      '/https://h/?_escaped_fragment_=x',
      'https://h/?_escaped_fragment_=x',
    ],
    ['no scheme', '/example.com/p', null],
    ['another scheme', '/ftp://h/', null],
  ])('%s', (_what, target, expected) => {
    expect(readUrlPath(target)).toBe(expected);
  });
});

describe('the URL', () => {
  it.each<[string, string, readonly [string, string, string] | null]>([
    ['plain', 'https://h.test/p?a=1', ['https://h.test/p?a=1', 'h.test', '/p?a=1']],
    ['no path', 'https://h.test', ['https://h.test/', 'h.test', '/']],
    ['a query only', 'https://h.test?a', ['https://h.test/?a', 'h.test', '/?a']],
    ['a port', 'http://H.test:8080/', ['http://h.test:8080/', 'h.test:8080', '/']],
    ['its own port', 'HTTPS://h.test:443/', ['https://h.test/', 'h.test', '/']],
    ['a fragment', 'https://h.test/p#x?y', ['https://h.test/p', 'h.test', '/p']],
    [
      'raw bytes',
      'https://h.test/\u00c3\u00a4 x',
      ['https://h.test/%C3%A4%20x', 'h.test', '/%C3%A4%20x'],
    ],
    [
      'a name beyond ASCII',
      'https://b\u00c3\u00bc.test/',
      ['https://xn--b-eha.test/', 'xn--b-eha.test', '/'],
    ],
    ['two slashes', 'https://h.test//evil/', ['https://h.test//evil/', 'h.test', '//evil/']],
    ['credentials', 'https://u:p@h.test/', null],
    ['a backslash', 'https://h.test\\@evil/', null],
    ['a control character', 'https://h.test/a\nb', null],
    ['an encoded NUL in the path', 'https://h.test/a%00', null],
    ['no host', 'https:///p', null],
    ['a bad port', 'https://h.test:99999/', null],
    ['a relative URL', '/p', null],
    ['another scheme', 'file:///etc/passwd', null],
  ])('%s', (_what, bytes, expected) => {
    const page = parseAskedPage(bytes);
    expect(page && [page.url, page.publicHost, page.target]).toEqual(expected);
  });
});
