// The tags of a page: from header fields and from its own HTML, whatever that looks like.
import { describe, expect, test } from 'vitest';
import { readMetaTags } from '../../../src/core/purge/read-meta-tags.ts';
import { splitTags, TAGS_MAX } from '../../../src/core/purge/tag.ts';

const META = '<meta name="edge-gateway-tags" content="a, b">';

describe('tags of a text', () => {
  test.each<[texts: string[], tags: string[]]>([
    [[], []],
    [[''], []],
    [['a b  c'], ['a', 'b', 'c']],
    [['a,b , c,,'], ['a', 'b', 'c']],
    [
      ['a', 'b a'],
      ['a', 'b'],
    ],
    [['p-1_x:/é ok'], ['ok']],
    [['a\tb\nc'], ['a', 'b', 'c']],
    [[`${'x'.repeat(257)} ${'y'.repeat(256)}`], ['y'.repeat(256)]],
  ])('%j', (texts, tags) => {
    expect(splitTags(texts)).toEqual(tags);
  });

  test('so many and no more', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `t${i}`);
    const most = many.slice(0, TAGS_MAX);
    expect(splitTags([most.join(' '), most.join(','), 'é'])).toEqual(most);
    expect(splitTags([most.join(' '), 'one-more'])).toBe(null);
    expect(splitTags([many.join(' ')])).toBe(null);
  });
});

describe('metas of a page', () => {
  test.each<[html: string, contents: string[]]>([
    ['', []],
    [META, ['a, b']],
    [`<!doctype html><html><head>${META}</head>`, ['a, b']],
    ['<META NAME=Edge-Gateway-Tags CONTENT=a/b />', ['a/b']],
    ["<meta content='a' name='cache-tag'><meta name=surrogate-key content=b>", ['a', 'b']],
    ['<meta\n  name = "cache-tag"\n  content = "a b"\n>', ['a b']],
    ['<meta name="cache-tag" content="a > b">', ['a > b']],
    ['<meta name="cache-tag" content="a" content="b">', ['a']],
    ['<meta name="cache-tag">', []],
    ['<meta name="keywords" content="a">', []],
    ['<metaphor name="cache-tag" content="a">', []],
    [`<!-- ${META} -->`, []],
    [`<!-- ${META}`, []],
    [`<!-- x --->${META}`, ['a, b']],
    [`<script>'${META}'</script>`, []],
    [`<script>'${META}'`, []],
    [`<style>${META}</STYLE >${META}`, ['a, b']],
    [`<title>${META}</title>`, []],
    [`<script src="</script>">'${META}'</script>`, []],
    [`<body>${META}`, []],
    [`</head>${META}`, []],
    [`1 < 2 <> </> <3 ${META}`, ['a, b']],
    [`<link x="y'">${META}`, ['a, b']],
  ])('%s', (html, contents) => {
    expect(readMetaTags(html)).toEqual(contents);
  });

  test.each([
    '<',
    '<!--',
    '<meta ',
    '<meta a="',
    "<meta a='",
    '<meta a= ',
    '<a ',
    '<script>',
    '<meta name=cache-tag content=',
    '<meta name',
    '/ ',
  ])('%j over and over takes no time to speak of', (piece) => {
    const startedAt = process.cpuUsage().user;
    for (const end of ['', '>', '"', "'"]) {
      readMetaTags(piece.repeat(Math.floor(1_000_000 / piece.length)) + end);
    }
    // Microseconds of this process; what grows with the square takes minutes.
    expect(process.cpuUsage().user - startedAt).toBeLessThan(5_000_000);
  });
});
