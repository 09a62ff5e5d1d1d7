// What caches in front are told of an answer that is passed on, field by field.
import { describe, expect, test } from 'vitest';
import type { HeaderList } from '../../../src/core/http/header-list.ts';
import { type Downstream, tellDownstream } from '../../../src/core/http/tell-downstream.ts';

const HTML = 'Content-Type: text/html; charset=utf-8';
const KEPT = 'Cache-Control: public, max-age=600';
const UNKEPT = 'Cache-Control: private, no-store';
const UA = 'Vary: User-Agent';

type Row = readonly [what: string, fields: readonly string[], out: readonly string[]];

const AS_SENT: readonly Row[] = [['whatever it is', [HTML, KEPT], [HTML, KEPT]]];

const VARIES: readonly Row[] = [
  ['HTML', [HTML, KEPT], [HTML, KEPT, UA]],
  ['XHTML', ['content-type: Application/XHTML+xml'], ['content-type: Application/XHTML+xml', UA]],
  ['without a type', ['ETag: "x"'], ['ETag: "x"', UA]],
  ['the first of two types', [HTML, 'Content-Type: a/b'], [HTML, 'Content-Type: a/b', UA]],
  ['on the line that is there', ['vary: Cookie', KEPT], ['vary: Cookie, User-Agent', KEPT]],
  ['on the first of two', ['Vary: A', 'Vary: B'], ['Vary: A, User-Agent', 'Vary: B']],
  ['on an empty one', ['Vary: ', KEPT], [UA, KEPT]],
  ['already', ['Vary: Accept, user-agent'], ['Vary: Accept, user-agent']],
  ['already, on a second line', ['Vary: A', UA], ['Vary: A', UA]],
  ['any', ['Vary: *'], ['Vary: *']],
  ['any, in a list', ['Vary: A, *'], ['Vary: A, *']],
  ['another name that holds it', ['Vary: X-User-Agent'], ['Vary: X-User-Agent, User-Agent']],
  ['a style sheet', ['Content-Type: text/css', KEPT], ['Content-Type: text/css', KEPT]],
  ['what only begins so', ['Content-Type: text/html5'], ['Content-Type: text/html5']],
];

const HTML_UNKEPT: readonly Row[] = [
  ['HTML', [HTML, KEPT], [HTML, UA, UNKEPT]],
  ['without a type', [KEPT], [UA, UNKEPT]],
  ['a style sheet', ['Content-Type: text/css', KEPT], ['Content-Type: text/css', KEPT]],
];

const DROPPED = [
  'Cache-Control: public',
  'cache-control: s-maxage=9',
  'Expires: Thu, 01 Jan 2099 00:00:00 GMT',
  'CDN-Cache-Control: max-age=9',
  'Cloudflare-CDN-Cache-Control: max-age=9',
  'Vercel-CDN-Cache-Control: max-age=9',
  'Netlify-CDN-Cache-Control: max-age=9',
  'Akamai-Cache-Control: max-age=9',
  'X-LiteSpeed-Cache-Control: max-age=9',
  'Surrogate-Control: max-age=9',
  'Edge-Control: cache-maxage=9s',
  'X-Accel-Expires: 9',
];

const ALL_UNKEPT: readonly Row[] = [
  ['HTML', [HTML, KEPT], [HTML, UA, UNKEPT]],
  ['a style sheet', ['Content-Type: text/css', KEPT], ['Content-Type: text/css', UA, UNKEPT]],
  ['any variant', ['Vary: *', KEPT], ['Vary: *', UNKEPT]],
  ['nothing said', [], [UA, UNKEPT]],
  ...DROPPED.map((field) => [field, [field, 'X: 1'], ['X: 1', UA, UNKEPT]] as const),
  ...['Cache-Status: a; hit', 'X-Expires: 1', 'Cache-Controls: a', 'No-Vary-Search: key-order'].map(
    (field) => [`${field} stays`, [field], [field, UA, UNKEPT]] as const,
  ),
];

const ROWS: readonly (readonly [Downstream, readonly Row[]])[] = [
  ['as_sent', AS_SENT],
  ['html_varies', VARIES],
  ['html_unkept', HTML_UNKEPT],
  ['unkept', ALL_UNKEPT],
];

describe.each(ROWS)('%s', (downstream, rows) => {
  test.each(rows)('%s', (_what, fields, out) => {
    const told = tellDownstream(fields.map(toField), downstream);
    expect(told.map(([name, value]) => `${name}: ${value}`)).toEqual(out);
  });
});

function toField(line: string): HeaderList[number] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 2)];
}
