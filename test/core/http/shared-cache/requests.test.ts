// Which requests the cache has a part in; which of them are one to it; which part of an answer they
// want.
import { describe, expect, test } from 'vitest';
import type { DecisionReason } from '../../../../src/core/decision/decision.ts';
import { chooseRange } from '../../../../src/core/http/shared-cache/byte-range.ts';
import {
  type NoPartReason,
  whyNoPart,
} from '../../../../src/core/http/shared-cache/judge-request.ts';
import { selectingFields, varyNames } from '../../../../src/core/http/shared-cache/vary.ts';
import type { BypassPolicy } from '../../../../src/core/policy/policy.ts';
import type { HeaderList } from '../../../../src/pipeline/ports.ts';

const POLICY: BypassPolicy = {
  timeoutMs: 30_000,
  userAgent: null,
  cookies: 'pass',
  cache: {
    enabled: true,
    ttlMs: 0,
    statusCodes: new Set(),
    expired: { strategy: 'delete', staleTtlMs: 0 },
  },
};

describe('the cache has a part in', () => {
  interface Row {
    readonly method?: string;
    readonly headers?: HeaderList;
    readonly reason?: DecisionReason;
    readonly policy?: Partial<BypassPolicy>;
  }
  test.each<[string, Row, NoPartReason | null]>([
    ['a GET', {}, null],
    ['a HEAD', { method: 'HEAD' }, null],
    ['a POST', { method: 'POST' }, 'method'],
    ['a method nobody knows', { method: 'M-SEARCH' }, 'method'],
    [
      'a GET of a host that does not want it',
      { policy: { cache: { ...POLICY.cache, enabled: false } } },
      'off',
    ],
    ['a GET with a cookie', { headers: [['Cookie', 'a=b']] }, 'cookie'],
    ['a GET with an empty cookie', { headers: [['cookie', '']] }, 'cookie'],
    [
      'one with a cookie that does not matter',
      { headers: [['Cookie', 'a=b']], policy: { cookies: 'ignore' } },
      null,
    ],
    ['a signed URL', { reason: 'signed_url' }, 'signed_url'],
    ['a GET with credentials', { headers: [['Authorization', 'x']] }, null],
    ['If-Match', { headers: [['If-Match', '"a"']] }, 'condition'],
    ['If-Unmodified-Since', { headers: [['If-Unmodified-Since', 'x']] }, 'condition'],
    ['If-None-Match', { headers: [['If-None-Match', '"a"']] }, null],
    ['an event stream', { headers: [['Accept', 'text/event-stream']] }, 'event_stream'],
  ])('%s', (_name, row, expected) => {
    const { method = 'GET', headers = [], reason = 'dimension', policy } = row;
    expect(whyNoPart({ method, headers, reason }, { ...POLICY, ...policy })).toBe(expected);
  });
});

describe('variants', () => {
  test.each<[string, readonly string[], readonly string[] | null]>([
    ['none', [], []],
    ['in order, once, in one case', ['Foo, bar', 'FOO'], ['bar', 'foo']],
    ['cookies never choose', ['Cookie, Foo'], ['foo']],
    ['a star anywhere', ['Foo', '*'], null],
    ['credentials', ['Authorization'], null],
    ['no names', ['a b'], null],
    ['too many', [Array.from({ length: 17 }, (_, i) => `f${i}`).join()], null],
  ])('%s', (_name, lines, expected) => {
    expect(varyNames(lines.map((line) => ['Vary', line]))).toEqual(expected);
  });

  test.each<[string, string, readonly string[], readonly string[], boolean]>([
    ['the same', 'foo', ['1'], ['1'], true],
    ['another value', 'foo', ['1'], ['2'], false],
    ['another case', 'foo', ['a'], ['A'], false],
    ['white space around', 'foo', ['1,2'], [' 1,2 '], true],
    ['white space inside', 'foo', ['1,2'], ['1, 2'], false],
    ['an empty member', 'origin', ['https://a.test'], ['https://a.test,'], false],
    ['spaces around a semicolon', 'user-agent', ['A (b; c)'], ['A (b;c)'], false],
    ['an empty language', 'accept-language', ['en'], ['en,'], true],
    ['white space between languages', 'accept-language', ['en,de'], [' en ,  de '], true],
    ['two lines', 'foo', ['1, 2'], ['1', '2'], true],
    ['absent', 'foo', [], [], true],
    ['absent or empty', 'foo', [], [''], false],
    ['quoted white space', 'foo', ['"a, b"'], ['"a,b"'], false],
    ['the case of a language', 'accept-language', ['en, de'], ['eN,De'], true],
    ['the order of languages', 'accept-language', ['en, de'], ['de, en'], false],
    ['spaces around q', 'accept-encoding', ['br;q=1'], ['br; q=1'], true],
  ])('%s', (_name, name, one, other, expected) => {
    const select = (values: readonly string[]): string =>
      JSON.stringify(
        selectingFields(
          [name],
          values.map((value) => [name, value]),
        ),
      );
    expect(select(one) === select(other)).toBe(expected);
  });
});

describe('ranges of ten bytes', () => {
  test.each<[string, HeaderList, string]>([
    ['none', [], 'whole'],
    ['from the start', [['Range', 'bytes=0-1']], '0-1'],
    ['to the end', [['Range', 'bytes=8-']], '8-9'],
    ['beyond the end', [['Range', 'bytes=8-99']], '8-9'],
    ['the last', [['Range', 'bytes=-3']], '7-9'],
    ['more than there is', [['Range', 'bytes=-99']], '0-9'],
    ['behind the end', [['Range', 'bytes=10-']], 'unsatisfiable'],
    ['nothing', [['Range', 'bytes=-0']], 'unsatisfiable'],
    ['backwards', [['Range', 'bytes=5-2']], 'whole'],
    ['several', [['Range', 'bytes=0-1,3-4']], 'whole'],
    ['another unit', [['Range', 'lines=0-1']], 'whole'],
    ['no range', [['Range', 'bytes=-']], 'whole'],
    [
      'our tag',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', '"a"'],
      ],
      '0-1',
    ],
    [
      'another tag',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', '"b"'],
      ],
      'whole',
    ],
    [
      'a weak tag',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', 'W/"a"'],
      ],
      'whole',
    ],
    [
      'our date',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', 'Sun, 06 Nov 1994 08:49:37 GMT'],
      ],
      '0-1',
    ],
    [
      'a later date',
      [
        ['Range', 'bytes=0-1'],
        ['If-Range', 'Sun, 06 Nov 1994 08:49:38 GMT'],
      ],
      'whole',
    ],
  ])('%s', (_name, asked, expected) => {
    const stored: HeaderList = [
      ['ETag', '"a"'],
      ['Last-Modified', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ];
    const range = chooseRange(asked, stored, 10);
    expect(range.kind === 'part' ? `${range.first}-${range.last}` : range.kind).toBe(expected);
  });
});
