// Who gets a 304: precedence, weak comparison, lists, dates.
import { describe, expect, it } from 'vitest';
import { formatEtag, isNotModified } from '../../../src/core/http/conditional.ts';
import type { HeaderList } from '../../../src/core/http/header-list.ts';
import { formatHttpDate, parseHttpDate } from '../../../src/core/http/http-date.ts';

const MODIFIED = Date.UTC(1994, 10, 6, 8, 49, 37, 500);
const SAME = 'Sun, 06 Nov 1994 08:49:37 GMT';
const LATER = 'Sun, 06 Nov 1994 08:49:38 GMT';
const EARLIER = 'Sun, 06 Nov 1994 08:49:36 GMT';

describe('isNotModified', () => {
  const validators = { etag: formatEtag('abc'), modifiedAt: MODIFIED };
  const inm = (value: string): HeaderList => [['If-None-Match', value]];
  const ims = (value: string): HeaderList => [['If-Modified-Since', value]];

  it.each<[string, HeaderList, boolean]>([
    ['nothing', [], false],
    ['the tag', inm('W/"abc"'), true],
    ['the tag, strong', inm('"abc"'), true],
    ['another tag', inm('W/"abd"'), false],
    ['a longer tag', inm('"abcd"'), false],
    ['a list', inm('"x", W/"abc" , "y"'), true],
    ['a list without it', inm('"x","y"'), false],
    ['a tag with a comma', inm('"x,abc"'), false],
    ['*', inm('*'), true],
    ['two lines', [...inm('"x"'), ...inm('"abc"')], true],
    ['no quotes', inm('abc'), false],
    ['empty', inm(''), false],
    ['an open quote', inm('"abc'), false],
    ['same second', ims(SAME), true],
    ['later', ims(LATER), true],
    ['earlier', ims(EARLIER), false],
    ['no date', ims('yesterday'), false],
    ['two dates', [...ims(SAME), ...ims(SAME)], false],
    ['another tag beats a date', [...inm('"x"'), ...ims(LATER)], false],
    ['the tag beats a date', [...inm('"abc"'), ...ims(EARLIER)], true],
    ['an empty tag list beats a date', [...inm(''), ...ims(LATER)], false],
  ])('%s', (_what, headers, expected) => {
    expect(isNotModified('GET', headers, validators)).toBe(expected);
    expect(isNotModified('HEAD', headers, validators)).toBe(expected);
    expect(isNotModified('POST', headers, validators)).toBe(false);
  });
});

describe('HTTP dates', () => {
  it.each<[string, number | null]>([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Wednesday, 06-Nov-30 08:49:37 GMT', Date.UTC(2030, 10, 6, 8, 49, 37)],
    [' Sun, 06 Nov 1994 08:49:37 GMT ', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Wed, 29 Feb 2023 00:00:00 GMT', null],
    ['Sun, 06 Nov 1994 24:00:00 GMT', null],
    ['Sun, 06 Nov 1994 08:60:37 GMT', null],
    ['Sun, 06 Xyz 1994 08:49:37 GMT', null],
    ['Sun, 06 anF 1994 08:49:37 GMT', null],
    ['Sun, 06 Nov 1994 08:49:37 CET', null],
    ['1994-11-06T08:49:37Z', null],
    ['0', null],
    ['', null],
  ])('%j', (text, expected) => expect(parseHttpDate(text)).toBe(expected));

  it('writes what it reads', () => {
    expect(formatHttpDate(MODIFIED)).toBe(SAME);
    expect(parseHttpDate(formatHttpDate(MODIFIED))).toBe(MODIFIED - 500);
  });
});
