// What is a page: the last segment before a fetch, the content type after.
import { describe, expect, it } from 'vitest';
import { isHtml, isPagePath } from '../../../src/core/http/content-kind.ts';

describe('isPagePath', () => {
  it.each([
    ['/', true],
    ['/page', true],
    ['/page.html', true],
    ['/index.php', true],
    ['/blog/node.js-in-2026', true],
    ['/about.ai/team', true],
    ['/about.ai', true],
    ['/v1.2', true],
    ['/x?file=a.pdf', true],
    ['/a.pdf/reviews', true],
    ['/account;x.css', false],
    ['/account.css;x', true],
    ['/sitemap', true],
    ['/feed/', true],
    ['/trailing.', true],
    ['/a.woff2?x=1', false],
    ['/a.WOFF2', false],
    ['/sitemap.xml', false],
    ['/sitemap-1.xml.gz', false],
    ['/robots.txt', false],
    ['/feed.rss', false],
    ['/feed.atom', false],
    ['/app.js', false],
    ['/.well-known/x.json', false],
    ['/a/b.c/d.png', false],
    ['/.css', false],
  ])('%s: %s', (path, expected) => expect(isPagePath(path)).toBe(expected));
});

describe('isHtml', () => {
  it.each([
    ['text/html', true],
    ['Text/HTML; charset=utf-8', true],
    [' text/html ;charset=x', true],
    ['application/xhtml+xml', true],
    ['application/xml', false],
    ['text/html-x', false],
    ['text/plain; text/html', false],
    ['', false],
  ])('%j: %s', (type, expected) => expect(isHtml(type)).toBe(expected));
});
