// What purges say about pages: a table of selectors, a table of orders of events, and random orders
// against an answer that is worked out the slow way.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSelector, parsePathPattern } from '../../../src/core/purge/match-selector.ts';
import { createPurgeIndex, type JudgedPage } from '../../../src/core/purge/purge-index.ts';
import type { PurgeRecord, PurgeSelector } from '../../../src/core/purge/purge-record.ts';
import { settleEntry } from '../../../src/core/purge/settle-entry.ts';
import { makeEntry } from '../../contract/stored-entries.ts';

const PAGE = {
  hostId: 1,
  dimensionId: 2,
  url: 'https://a.test/%C3%BCber/uns?x=/z',
  tags: ['news', 'p-1'],
};
const KEY = 'cache:1:1:0123456789abcdef';

type UrlSelector = Extract<PurgeSelector, { readonly kind: 'url' }>;
const url = (text: string): UrlSelector => ({ kind: 'url', url: text, keys: [KEY] });
/** The page under another spelling that a learned rule says is the same. */
const sameBut = (name: string): UrlSelector => ({
  ...url(`${PAGE.url}&${name}=1`),
  learned: `params=("${name}")`,
});
const pattern = (text: string, hostId: number | null = null): PurgeSelector => ({
  kind: 'pattern',
  pattern: text,
  hostId,
});
const tag = (text: string, hostId: number | null = null): PurgeSelector => ({
  kind: 'tag',
  tag: text,
  hostId,
});
const host = (hostId: number): PurgeSelector => ({ kind: 'host', hostId });
const ALL: PurgeSelector = { kind: 'all' };

const record = (seq: number, selector: PurgeSelector, soft = false): PurgeRecord => ({
  seq,
  at: seq,
  selector,
  soft,
  undoes: null,
});
const undo = (seq: number, undoes: number, selector: PurgeSelector): PurgeRecord => ({
  ...record(seq, selector, true),
  undoes,
});

describe('which page is meant', () => {
  test.each<[selector: PurgeSelector, isMeant: boolean]>([
    [url(PAGE.url), true],
    [url('https://a.test/%C3%BCber/uns'), false],
    [{ kind: 'url', url: PAGE.url, keys: [KEY], dimensionId: 2 }, true],
    [{ kind: 'url', url: PAGE.url, keys: [KEY], dimensionId: 0 }, false],
    [{ kind: 'url', url: `${PAGE.url}&z=1`, keys: [KEY], dimensionId: 2 }, false],
    [{ kind: 'url', url: PAGE.url, keys: [KEY], learned: 'params=("y")' }, true],
    [{ kind: 'url', url: `${PAGE.url}&y=1`, keys: [KEY], learned: 'params=("y")' }, true],
    [{ kind: 'url', url: `${PAGE.url}&z=1`, keys: [KEY], learned: 'params=("y")' }, false],
    [{ ...sameBut('y'), dimensionId: 2 }, true],
    [{ ...sameBut('y'), dimensionId: 0 }, false],
    [pattern('/über*'), true],
    [pattern('/%C3%BCber*'), true],
    [pattern('/%c3%bcBER*', 1), true],
    [pattern('/über*', 2), false],
    [pattern('/über/uns'), true],
    [pattern('/über'), false],
    [pattern('*z'), false],
    [pattern('*'), true],
    [pattern('~^/%C3%BC'), true],
    [pattern('~/UNS$'), false],
    [pattern('~*/UNS$'), true],
    // Of a later version, or damaged: rather too many pages.
    [pattern('~('), true],
    [tag('news'), true],
    [tag('news', 1), true],
    [tag('news', 2), false],
    [tag('News'), false],
    [tag('new'), false],
    [host(1), true],
    [host(11), false],
    [ALL, true],
  ])('%j: %s', (selector, isMeant) => {
    expect(compileSelector(selector)(PAGE)).toBe(isMeant);
    const { judge } = createPurgeIndex([record(3, selector)]);
    expect(judge({ ...PAGE, since: 2 }).state).toBe(isMeant ? 'gone' : 'kept');
    expect(judge({ ...PAGE, since: 3 }).state).toBe('kept');
  });

  test('a tag may be one of those that are not known yet', () => {
    expect(compileSelector(tag('x'))({ ...PAGE, tags: null })).toBe(true);
    expect(compileSelector(tag('x', 2))({ ...PAGE, tags: null })).toBe(false);
    const judge = (selector: PurgeSelector, since: number, tags: readonly string[] | null) =>
      createPurgeIndex([record(3, selector)]).judge({ ...PAGE, tags, since }).state;
    expect(judge(tag('x'), 2, null)).toBe('gone');
    expect(judge(tag('x', 1), 2, null)).toBe('gone');
    expect(judge(tag('x', 2), 2, null)).toBe('kept');
    expect(judge(tag('x'), 3, null)).toBe('kept');
    expect(judge(tag('x'), 2, [])).toBe('kept');
    expect(compileSelector(tag('x'))({ ...PAGE, tags: undefined })).toBe(false);
  });

  test.each([
    ['', 'empty pattern'],
    ['news/*', 'matches no path'],
    ['/a?b=*', 'never contains "?"'],
    ['~(', 'bad regular expression'],
  ])('pattern %j is refused', (source, message) => {
    const parsed = parsePathPattern(source);
    expect(parsed.ok ? '' : parsed.error.message).toContain(message);
  });
});

describe('what happens in which order', () => {
  const soft = (seq: number): PurgeRecord => record(seq, host(1), true);
  const taken = (seq: number, undoes: number): PurgeRecord => undo(seq, undoes, host(1));
  test.each<[name: string, since: number | undefined, records: PurgeRecord[], verdict: object]>([
    ['nothing', 0, [], { state: 'kept' }],
    ['a purge after it', 4, [record(5, ALL)], { state: 'gone' }],
    ['a purge before it', 5, [record(5, ALL)], { state: 'kept' }],
    ['an entry that does not know', undefined, [record(1, ALL)], { state: 'gone' }],
    ['a soft one', 0, [soft(1)], { state: 'softened', by: 1 }],
    ['two soft ones', 0, [soft(1), soft(2)], { state: 'softened', by: 2 }],
    ['soft, then hard', 0, [soft(1), record(2, ALL)], { state: 'gone' }],
    ['hard, then soft', 0, [record(1, host(1)), soft(2)], { state: 'gone' }],
    ['stored between', 1, [record(1, host(1)), soft(2)], { state: 'softened', by: 2 }],
    ['soft, taken back', 0, [soft(1), taken(2, 1)], { state: 'kept' }],
    ['the later taken back', 0, [soft(1), soft(2), taken(3, 2)], { state: 'softened', by: 1 }],
    ['the earlier taken back', 0, [soft(1), soft(2), taken(3, 1)], { state: 'softened', by: 2 }],
    ['soft again', 0, [soft(1), taken(2, 1), soft(3)], { state: 'softened', by: 3 }],
    ['taking back means nothing', 0, [record(1, url('x')), taken(2, 1)], { state: 'kept' }],
    ['a hard one stays', 0, [record(1, ALL), taken(2, 1)], { state: 'gone' }],
  ])('%s', (_name, since, records, verdict) => {
    const page = { ...PAGE, ...(since !== undefined && { since }) };
    expect(createPurgeIndex(records).judge(page)).toEqual(verdict);
  });

  test('an entry is marked, marked again, and comes back as it was', () => {
    const entry = makeEntry({ since: 0 }, 1_000_000);
    const index = createPurgeIndex([soft(1)]);
    const settle = (from: typeof entry, nowMs: number) =>
      settleEntry(from, index.judge(from), nowMs) ?? expect.unreachable();
    const once = settle(entry, 1_000_500);
    expect(once).toMatchObject({ staleAt: 1_000_500, softened: { by: 1, staleAt: entry.staleAt } });
    expect(settle(once, 1_000_600)).toBe(once);
    index.add(soft(2));
    const twice = settle(once, 1_000_700);
    expect(twice).toMatchObject({
      staleAt: 1_000_500,
      softened: { by: 2, staleAt: entry.staleAt },
    });
    index.add(taken(3, 2));
    const back = settle(twice, 1_000_800);
    expect(back.softened).toEqual({ by: 1, staleAt: entry.staleAt });
    index.add(taken(4, 1));
    expect(index.judge(back)).toEqual({ state: 'restored' });
    expect(settle(back, 1_000_900)).toEqual(entry);
    expect(settle(twice, 1_000_900)).toEqual(entry);
  });
});

describe('random orders', () => {
  const hosts = fc.constantFrom(1, 2);
  const dimensions = fc.constantFrom(0, 1);
  const anyHost = fc.constantFrom(1, 2, null);
  const urls = fc.constantFrom('https://a.test/a', 'https://a.test/a/b?c', 'https://b.test/a');
  const tags = fc.constantFrom('t', 'u');
  const selectors = fc.oneof<fc.Arbitrary<PurgeSelector>[]>(
    urls.map(url),
    fc.tuple(urls, dimensions).map(([u, dimensionId]) => ({ ...url(u), dimensionId })),
    fc.tuple(fc.constantFrom('/a', '/a*', '*b', '~b$'), anyHost).map(([p, h]) => pattern(p, h)),
    fc.tuple(tags, anyHost).map(([t, h]) => tag(t, h)),
    hosts.map(host),
    fc.constant(ALL),
  );
  const orders = fc.record({
    selector: selectors,
    soft: fc.boolean(),
    /** How far back the purge lies that is taken back; null: it is a purge itself. */
    back: fc.option(fc.integer({ min: 1, max: 5 })),
    /** Places need not be neighbours. */
    step: fc.integer({ min: 1, max: 3 }),
  });
  const pages = fc.record({
    hostId: hosts,
    dimensionId: dimensions,
    url: urls,
    tags: fc.subarray(['t', 'u']),
    after: fc.integer({ min: 0, max: 12 }),
  });

  test('agree with the naive answer', () => {
    fc.assert(
      fc.property(fc.array(orders, { maxLength: 12 }), pages, (list, { after, ...page }) => {
        const records = toRecords(list);
        const since = records[after - 1]?.seq ?? 0;
        const judged: JudgedPage = { ...page, since };
        expect(createPurgeIndex(records).judge(judged)).toEqual(naive(records, judged));
      }),
      { numRuns: 2_000 },
    );
  });

  interface Order {
    readonly selector: PurgeSelector;
    readonly soft: boolean;
    readonly back: number | null;
    readonly step: number;
  }

  function toRecords(list: readonly Order[]): readonly PurgeRecord[] {
    const records: PurgeRecord[] = [];
    for (const { selector, soft, back, step } of list) {
      const seq = (records.at(-1)?.seq ?? 0) + step;
      const target = back === null ? undefined : records.at(-back);
      const isTaken = target !== undefined && target.soft && target.undoes === null;
      records.push(isTaken ? undo(seq, target.seq, target.selector) : record(seq, selector, soft));
    }
    return records;
  }

  function naive(records: readonly PurgeRecord[], page: JudgedPage): object {
    const purges = records.filter(
      ({ seq, undoes, selector }) =>
        undoes === null && seq > (page.since ?? 0) && compileSelector(selector)(page),
    );
    if (purges.some(({ soft }) => !soft)) return { state: 'gone' };
    const left = purges.filter(({ seq }) => !records.some(({ undoes }) => undoes === seq));
    const last = left.at(-1);
    return last === undefined ? { state: 'kept' } : { state: 'softened', by: last.seq };
  }
});
