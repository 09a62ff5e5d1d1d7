// Sitemaps as they are met: read whole, in every way of cutting them into pieces.
import { describe, expect, test } from 'vitest';
import { LocationReader } from '../../src/core/sitemap/read-locations.ts';

const NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

// Name, text, kind, addresses.
const ROWS = [
  [
    'plain',
    `<?xml version="1.0"?><urlset ${NS}><url><loc>https://a.test/1</loc></url></urlset>`,
    'pages',
    ['https://a.test/1'],
  ],
  [
    'an index',
    `<sitemapindex ${NS}>\n<sitemap><loc> https://a.test/s.xml\n</loc><lastmod>2026</lastmod></sitemap></sitemapindex>`,
    'index',
    ['https://a.test/s.xml'],
  ],
  [
    'entities',
    '<urlset><loc>https://a.test/?a=1&amp;b=&#50;&#x33;&nbsp;</loc></urlset>',
    'pages',
    ['https://a.test/?a=1&b=23&nbsp;'],
  ],
  [
    'an entity is decoded once',
    '<urlset><loc>https://a.test/&amp;lt;</loc></urlset>',
    'pages',
    ['https://a.test/&lt;'],
  ],
  [
    'CDATA is no markup',
    '<urlset><loc><![CDATA[https://a.test/?a&amp;b]]></loc></urlset>',
    'pages',
    ['https://a.test/?a&amp;b'],
  ],
  [
    'comments',
    '<!-- <urlset> --><urlset><!-- <loc>no</loc> -- > --><loc>https://a.<!-- x -->test/</loc></urlset>',
    'pages',
    ['https://a.test/'],
  ],
  [
    'images are no pages',
    '<urlset xmlns:image="x"><url><loc>https://a.test/</loc><image:image><image:loc>https://a.test/i.png</image:loc></image:image></url></urlset>',
    'pages',
    ['https://a.test/'],
  ],
  [
    'a prefix of the protocol itself',
    '<s:urlset xmlns:s="x"><s:url><s:loc>https://a.test/</s:loc><loc>no</loc></s:url></s:urlset>',
    'pages',
    ['https://a.test/'],
  ],
  [
    'a > in an attribute',
    '<urlset a="1>2" b=\'>\'><url><loc a=">">https://a.test/</loc></url></urlset>',
    'pages',
    ['https://a.test/'],
  ],
  ['empty ones', '<urlset><loc/><loc></loc><loc> </loc></urlset>', 'pages', []],
  ['a byte order mark', '\ufeff<urlset></urlset>', 'pages', []],
  [
    'one that was cut off',
    '<urlset><loc>https://a.test/</loc><loc>https://a.test/half',
    'pages',
    ['https://a.test/'],
  ],
] as const;

describe.each(ROWS)('%s', (_name, text, kind, addresses) => {
  test.each([text.length, 7, 1])('in pieces of %i', (size) => {
    const reader = new LocationReader();
    const found: string[] = [];
    for (let at = 0; at < text.length; at += size) {
      found.push(...reader.feed(text.slice(at, at + size)));
    }
    expect(reader.kind).toBe(kind);
    expect(found).toEqual(addresses);
  });
});

test.each([
  ['<!DOCTYPE urlset [<!ENTITY a "b">]><urlset/>', 'document type'],
  ['<urlset><!ENTITY a "b"></urlset>', 'document type'],
  ['<html><body>', '<html>'],
  ['<rss version="2.0">', '<rss>'],
  [`<urlset a="${'x'.repeat(10_000)}`, 'tag that does not end'],
  [`<urlset><loc>${'x'.repeat(70_000)}`, 'too long'],
])('%.30s… is refused: %s', (text, reason) => {
  expect(() => new LocationReader().feed(text)).toThrow(reason);
});

test('time is linear in the length', () => {
  const unit = '<!-- - -- ><x>&amp;&#1;&</x> --><url><loc>https://a.test/</loc></url>';
  const count = 50_000;
  const reader = new LocationReader();
  const text = `<urlset>${unit.repeat(count)}`;
  let found = 0;
  for (let at = 0; at < text.length; at += 65_536) {
    found += reader.feed(text.slice(at, at + 65_536)).length;
  }
  expect(found).toBe(count);
});
