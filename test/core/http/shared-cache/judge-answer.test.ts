// Whether an answer that was passed on is kept, and for how long: RFC 9111 §3 and §4.2, RFC 9213,
// RFC 5861, as tables.
import { describe, expect, test } from 'vitest';
import { formatHttpDate } from '../../../../src/core/http/http-date.ts';
import { judgeAnswer, servesOnError } from '../../../../src/core/http/shared-cache/judge-answer.ts';
import type { BypassCachePolicy } from '../../../../src/core/policy/policy.ts';
import type { HeaderList } from '../../../../src/pipeline/ports.ts';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const POLICY: BypassCachePolicy = {
  enabled: true,
  ttlMs: 0,
  statusCodes: new Set([200]),
  expired: { strategy: 'delete', staleTtlMs: 0 },
};
const SERVES_STALE: BypassCachePolicy = {
  ...POLICY,
  expired: { strategy: 'serve_stale', staleTtlMs: 60_000 },
};

interface Question {
  readonly status?: number;
  readonly policy?: BypassCachePolicy;
  readonly hasAuthorization?: boolean;
  readonly requestedAt?: number;
}

/** Header lines, `Name: value`; the verdict is the seconds it is fresh, or why it is not kept. */
function judge(lines: readonly string[], question: Question = {}): number | string {
  const { status = 200, policy = POLICY, hasAuthorization = false } = question;
  const judgement = judgeAnswer({
    answer: {
      status,
      headers: toHeaders(lines),
      requestedAt: question.requestedAt ?? NOW,
      receivedAt: NOW,
    },
    policy,
    hasAuthorization,
  });
  return judgement.store
    ? (judgement.kept.staleAt - judgement.kept.cachedAt) / 1000
    : judgement.reason;
}

function toHeaders(lines: readonly string[]): HeaderList {
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
}

const dateIn = (seconds: number): string => formatHttpDate(NOW + seconds * 1000);

describe('how long an answer is fresh', () => {
  test.each<[string, readonly string[], number | string]>([
    ['s-maxage before max-age', ['Cache-Control: max-age=10, s-maxage=20'], 20],
    ['max-age before Expires', ['Cache-Control: max-age=10', `Expires: ${dateIn(99)}`], 10],
    ['Expires by the answer’s own date', [`Date: ${dateIn(-5)}`, `Expires: ${dateIn(25)}`], 25],
    ['Expires without a date', [`Expires: ${dateIn(25)}`], 25],
    ['Expires in the past', [`Expires: ${dateIn(-1)}`], 'stale'],
    ['Expires that is no date', ['Expires: 0'], 'stale'],
    ['Expires twice', [`Expires: ${dateIn(9)}`, `Expires: ${dateIn(9)}`], 'stale'],
    ['the smaller of two', ['Cache-Control: max-age=10, max-age=5'], 5],
    ['a number in quotes', ['Cache-Control: max-age="10"'], 10],
    ['a number in single quotes', ["Cache-Control: max-age='10'"], 'stale'],
    ['no number', ['Cache-Control: max-age=abc'], 'stale'],
    ['a fraction', ['Cache-Control: max-age=10.5'], 'stale'],
    ['leading zeros', ['Cache-Control: max-age=0010'], 10],
    ['more than a year is a year', ['Cache-Control: max-age=99999999999'], 31_536_000],
    ['inside of a quoted extension', ['Cache-Control: x="max-age=10", max-age=5'], 5],
    ['less what it is old', ['Cache-Control: max-age=10', 'Age: 4'], 6],
    ['older than it lives', ['Cache-Control: max-age=10', 'Age: 40'], 'stale'],
    ['an age that is no number', ['Cache-Control: max-age=10', 'Age: abc'], 'stale'],
    ['a negative age', ['Cache-Control: max-age=10', 'Age: -4'], 'stale'],
    ['two ages', ['Cache-Control: max-age=10', 'Age: 0', 'Age: 0'], 'stale'],
    ['a date in the past counts as age', ['Cache-Control: max-age=10', `Date: ${dateIn(-3)}`], 7],
    ['a date ahead does not', ['Cache-Control: max-age=10', `Date: ${dateIn(3)}`], 10],
    ['Last-Modified says nothing', [`Last-Modified: ${dateIn(-9_999)}`], 'ttl'],
    ['nothing is said', [], 'ttl'],
    ['immutable says nothing by itself', ['Cache-Control: immutable'], 'ttl'],
  ])('%s', (_name, lines, expected) => {
    expect(judge(lines)).toBe(expected);
  });

  test('the time the answer took counts as age', () => {
    expect(judge(['Cache-Control: max-age=10', 'Age: 1'], { requestedAt: NOW - 2_000 })).toBe(7);
  });

  test.each<[string, Question, readonly string[], number | string]>([
    ['of a listed status', {}, [], 30],
    ['of another status', { status: 404 }, [], 'ttl'],
    ['never, where freshness is said', {}, ['Cache-Control: max-age=5'], 5],
    ['never, where it must be validated', {}, ['Cache-Control: no-cache'], 'stale'],
  ])('ttl speaks for answers that say nothing: %s', (_name, question, lines, expected) => {
    expect(judge(lines, { ...question, policy: { ...POLICY, ttlMs: 30_000 } })).toBe(expected);
  });
});

describe('what is kept for nobody', () => {
  const FRESH = 'Cache-Control: max-age=60';
  test.each<[string, readonly string[], Question, string]>([
    ['no-store', ['Cache-Control: max-age=60, No-Store'], {}, 'no_store'],
    ['private', ['Cache-Control: max-age=60, private'], {}, 'private'],
    ['a damaged private', ['Cache-Control: max-age=60, private="a'], {}, 'private'],
    ['a private list that is none', ['Cache-Control: max-age=60, private="a b, c"'], {}, 'private'],
    ['private without a list', ['Cache-Control: max-age=60, private='], {}, 'private'],
    ['private for every field', ['Cache-Control: max-age=60, private="*"'], {}, 'private'],
    ['Set-Cookie', [FRESH, 'Set-Cookie: a=b'], {}, 'set_cookie'],
    ['Set-Cookie, said to be public', [`${FRESH}, public`, 'Set-Cookie: a=b'], {}, 'set_cookie'],
    ['its obsolete sister', [FRESH, 'Set-Cookie2: a=b'], {}, 'set_cookie'],
    ['Vary: *', [FRESH, 'Vary: *'], {}, 'vary'],
    ['Vary with * in it', [FRESH, 'Vary: Accept, *'], {}, 'vary'],
    ['Vary with * on its second line', [FRESH, 'Vary: ', 'Vary: *'], {}, 'vary'],
    ['Vary: Authorization', [FRESH, 'Vary: Authorization'], {}, 'vary'],
    ['a part', [FRESH], { status: 206 }, 'status'],
    ['a status nobody knows', [FRESH], { status: 999 }, 'status'],
    ['must-understand', [`${FRESH}, must-understand`], { status: 599 }, 'status'],
    ['two types', [FRESH, 'Content-Type: text/a', 'Content-Type: text/b'], {}, 'content_type'],
    ['an event stream', [FRESH, 'Content-Type: text/event-stream'], {}, 'event_stream'],
    ['made for credentials', [FRESH], { hasAuthorization: true }, 'authorization'],
  ])('%s', (_name, lines, question, expected) => {
    expect(judge(lines, question)).toBe(expected);
  });

  test.each([
    ['public', `${FRESH}, public`],
    ['s-maxage', 'Cache-Control: s-maxage=60'],
    ['must-revalidate', `${FRESH}, must-revalidate`],
  ])('credentials don’t matter to an answer with %s', (_name, line) => {
    expect(judge([line], { hasAuthorization: true })).toBe(60);
  });

  test.each([203, 204, 299, 301, 404, 500, 599])('explicit freshness holds for %i', (status) => {
    expect(judge([FRESH], { status })).toBe(60);
  });
});

describe('a Cache-Control that can’t be read', () => {
  const SPEAKS: BypassCachePolicy = { ...SERVES_STALE, ttlMs: 30_000 };
  test.each([
    ['private; max-age=600', 'private'],
    ['private;max-age=0', 'private'],
    ['no-cache; no-store; must-revalidate', 'no_store'],
    ['no-store;', 'no_store'],
    ['max-age=600,private;q=1', 'private'],
    ['max-age=600,no-store;x', 'no_store'],
    ['foo="bar, private', 'private'],
    ['x=a private, max-age=600', 'private'],
    ['x="a" private, max-age=600', 'private'],
    ['max-age=600; x', 'stale'],
    ['max-age=600, x; no-cache', 'stale'],
    ['public; max-age=600', 'ttl'],
    [';', 'ttl'],
  ])('%s', (line, expected) => {
    expect(judge([`Cache-Control: ${line}`], { policy: SPEAKS })).toBe(expected);
  });

  test.each(['public;', 'must-revalidate; x'])('allows nothing: %s', (line) => {
    const lines = [`Cache-Control: max-age=60, ${line}`];
    expect(judge(lines, { hasAuthorization: true })).toBe('authorization');
  });

  test('but a quoted word says nothing', () => {
    expect(judge(['Cache-Control: x="private, no-store", max-age=60'])).toBe(60);
  });
});

describe('CDN-Cache-Control', () => {
  test.each<[string, readonly string[], number | string]>([
    ['wins over Cache-Control', ['CDN-Cache-Control: max-age=9', 'Cache-Control: no-store'], 9],
    ['wins over Expires', ['CDN-Cache-Control: max-age=9', `Expires: ${dateIn(-9)}`], 9],
    ['forbids too', ['CDN-Cache-Control: no-store', 'Cache-Control: max-age=9'], 'no_store'],
    ['is private too', ['CDN-Cache-Control: private', 'Cache-Control: max-age=9'], 'private'],
    ['no-cache', ['CDN-Cache-Control: no-cache', 'Cache-Control: max-age=9'], 'stale'],
    ['unknown members', ['CDN-Cache-Control: foo, max-age=9'], 9],
    ['parameters', ['CDN-Cache-Control: max-age=9;a=b'], 9],
    ['counts the age', ['CDN-Cache-Control: max-age=9', 'Age: 40'], 'stale'],
    ['says nothing', ['CDN-Cache-Control: foo', 'Cache-Control: max-age=9'], 'ttl'],
    ['no dictionary', ['CDN-Cache-Control: max-age=9, &&', 'Cache-Control: max-age=5'], 5],
    ['an empty one', ['CDN-Cache-Control: ', 'Cache-Control: max-age=5'], 5],
    ['keys are lower case', ['CDN-Cache-Control: Max-Age=9', 'Cache-Control: max-age=5'], 5],
    ['a string', ['CDN-Cache-Control: max-age="9"', 'Cache-Control: max-age=5'], 'stale'],
    ['a false flag', ['CDN-Cache-Control: no-store=?0, max-age=9'], 9],
  ])('%s', (_name, lines, expected) => {
    expect(judge(lines)).toBe(expected);
  });

  test('Surrogate-Control says nothing', () => {
    expect(judge(['Surrogate-Control: max-age=9'])).toBe('ttl');
  });
});

describe('what is kept of an answer', () => {
  const keptOf = (...lines: readonly string[]): readonly string[] => {
    const judgement = judgeAnswer({
      answer: { status: 200, headers: toHeaders(lines), requestedAt: NOW, receivedAt: NOW },
      policy: POLICY,
      hasAuthorization: false,
    });
    return judgement.store ? judgement.kept.headers.map(([name]) => name) : [];
  };

  test.each<[string, readonly string[], readonly string[]]>([
    ['no field of the connection', ['Connection: a', 'a: 1', 'b: 2', 'Keep-Alive: x'], ['b']],
    ['no proxy’s own', ['Proxy-Authenticate: x', 'Proxy-Authentication-Info: x'], []],
    [
      'no length and no age',
      ['Content-Length: 3', 'Age: 1', 'Content-Encoding: br'],
      ['Content-Encoding'],
    ],
  ])('%s', (_name, lines, expected) => {
    expect(keptOf('Cache-Control: max-age=60', ...lines)).toEqual([
      'Cache-Control',
      ...expected,
      'Date',
    ]);
  });

  test('no field that is for one client alone', () => {
    const lines = ['Cache-Control: max-age=60, private="A, b", no-cache="c"', 'a: 1', 'b: 2'];
    expect(keptOf(...lines, 'c: 3', 'd: 4')).toEqual(['Cache-Control', 'd', 'Date']);
  });
});

describe('beyond its freshness', () => {
  const keptMs = (line: string, policy: BypassCachePolicy): number | string => {
    const judgement = judgeAnswer({
      answer: { status: 200, headers: toHeaders([line]), requestedAt: NOW, receivedAt: NOW },
      policy,
      hasAuthorization: false,
    });
    return judgement.store ? judgement.kept.deleteAt - judgement.kept.staleAt : judgement.reason;
  };

  test.each<[string, BypassCachePolicy, number | string]>([
    ['Cache-Control: max-age=5', POLICY, 0],
    ['Cache-Control: max-age=5', SERVES_STALE, 60_000],
    ['Cache-Control: max-age=5, stale-while-revalidate=7', POLICY, 7_000],
    ['Cache-Control: max-age=5, stale-if-error=99', SERVES_STALE, 99_000],
    ['Cache-Control: max-age=5, stale-if-error=99, must-revalidate', POLICY, 0],
  ])('%s is kept', (line, policy, expected) => {
    expect(keptMs(line, policy)).toBe(expected);
  });

  test('what is never fresh is kept to be validated, where it can be', () => {
    expect(judge(['Cache-Control: no-cache', 'ETag: "a"'], { policy: SERVES_STALE })).toBe(0);
    expect(judge(['Cache-Control: no-cache', 'ETag: "a"'])).toBe('stale');
    expect(judge(['Cache-Control: no-cache'], { policy: SERVES_STALE })).toBe('stale');
  });

  test.each<[string, BypassCachePolicy, number, boolean]>([
    ['max-age=5', SERVES_STALE, 10, true],
    ['max-age=5', SERVES_STALE, 61, false],
    ['max-age=5', POLICY, 10, false],
    ['max-age=5, stale-if-error=20', POLICY, 10, true],
    ['max-age=5, stale-if-error=20', SERVES_STALE, 30, false],
    ['max-age=5, must-revalidate', SERVES_STALE, 10, false],
    ['max-age=5, proxy-revalidate', SERVES_STALE, 10, false],
    ['max-age=5, no-cache', SERVES_STALE, 10, false],
    ['s-maxage=5', SERVES_STALE, 10, false],
    ['s-maxage=5, stale-if-error=20', SERVES_STALE, 10, true],
  ])('%s in place of an error', (control, policy, secondsLate, expected) => {
    const headers: HeaderList = [['Cache-Control', control]];
    const now = NOW + secondsLate * 1000;
    expect(servesOnError(headers, { staleAt: NOW }, policy, now)).toBe(expected);
  });
});
