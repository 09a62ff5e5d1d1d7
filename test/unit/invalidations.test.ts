// What makes pages invalid, over a real store whose log the test can hold, fail and count: each
// change is written after it was made, equal ones together, failed ones again, and no client waits.
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSoloLeases } from '../../src/pipeline/fetch/solo-leases.ts';
import type { Leases } from '../../src/pipeline/ports.ts';
import type { PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import {
  createInvalidations,
  type Invalidations,
} from '../../src/pipeline/shared-cache/invalidations.ts';
import type { PageStore } from '../../src/pipeline/store/page-store.ts';
import { createStoreTurns, type StoreTurns } from '../../src/pipeline/store/store-turns.ts';
import { openEmbeddedSubject } from '../contract/open-entry-stores.ts';
import { openPages, type PagesSubject } from '../contract/open-pages.ts';
import type { MakeDraft } from '../contract/page-drafts.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const URL_A = 'https://example.com/a';
const URL_B = 'https://example.com/b';

let stored: PagesSubject;
let journal: PurgeJournal;
let pages: PageStore;
let draft: MakeDraft;
/** What the log does before it writes; it may throw away what it was asked. */
let before: () => Promise<'write' | 'fail'>;
let appends: number;
let lost: string[];
let storing: StoreTurns;
let invalidations: Invalidations;

const start = (leases: Leases): void => {
  const { clock } = stored;
  storing = createStoreTurns({ leases, clock });
  invalidations = createInvalidations({
    pages,
    journal: {
      append: async (order) => {
        appends += 1;
        const what = await before();
        return what === 'fail' ? { state: 'unavailable', reason: 'down' } : journal.append(order);
      },
    },
    storing,
    clock,
    onLost: ({ url }, reason) => lost.push(`${url} ${reason}`),
    onDefect: (error) => expect.unreachable(String(error)),
  });
};

beforeEach(async () => {
  stored = await openPages(openEmbeddedSubject, 0);
  ({ journal, pages, draft } = stored);
  before = async () => 'write';
  appends = 0;
  lost = [];
  start(createSoloLeases());
});
afterEach(async () => {
  before = async () => 'write';
  await invalidations.drain();
  await stored.dispose();
});

const save = async (url: string): Promise<void> => {
  expect(await pages.save(draft(url, { since: journal.end() }))).toMatchObject({ stored: true });
};
const isStored = async (url: string): Promise<boolean> =>
  (await stored.subject.readRaw(draft(url).key)) !== null;
/** Holds every write that begins, until it is let go. */
const holdWrites = (): { readonly letGo: () => void } => {
  const held: (() => void)[] = [];
  before = async () => {
    await new Promise<void>((resolve) => held.push(resolve));
    return 'write';
  };
  return {
    letGo: () => {
      before = async () => 'write';
      for (const go of held) go();
    },
  };
};

test('a change is in the log, and its page is gone, before the client has its answer', async () => {
  await save(URL_A);
  await save(URL_B);
  await invalidations.add(draft(URL_A));
  expect(journal.find(journal.end())).toMatchObject({ selector: { kind: 'url', url: URL_A } });
  expect([await isStored(URL_A), await isStored(URL_B)]).toEqual([false, true]);
});

describe('equal ones', () => {
  test('that come at once are written once, others by themselves', async () => {
    const urls = [URL_A, URL_A, URL_B, URL_A];
    await Promise.all(urls.map((url) => invalidations.add(draft(url))));
    expect(appends).toBe(2);
  });

  test('that come while one is written are written by one more, and never by that', async () => {
    const { letGo } = holdWrites();
    const first = invalidations.add(draft(URL_A));
    await waitUntil('it is being written', () => appends === 1);
    const others = Array.from({ length: 20 }, () => invalidations.add(draft(URL_A)));
    letGo();
    await Promise.all([first, ...others]);
    await invalidations.drain();
    expect(appends).toBe(2);
  });

  test('in a flood take a place of the log for each moment', async () => {
    const beganAt = performance.now();
    const all: Promise<void>[] = [];
    for (let i = 0; i < 200; i += 1) {
      all.push(invalidations.add(draft(URL_A)));
      await wait(1);
    }
    await Promise.all(all);
    expect(appends).toBeLessThanOrEqual((performance.now() - beganAt) / 20 + 1);
  });
});

describe('a log that can’t be written to', () => {
  test('is tried again, while the client has its answer', async () => {
    before = async () => 'fail';
    await save(URL_A);
    await invalidations.add(draft(URL_A));
    expect(journal.end()).toBe(0);
    before = async () => 'write';
    await waitUntil('it is written', () => journal.end() > 0);
    expect(journal.find(journal.end())).toMatchObject({ selector: { url: URL_A } });
    expect(lost).toEqual([]);
  });

  test('one more change of the page is written with the one that waits', async () => {
    before = async () => 'fail';
    await Promise.all([invalidations.add(draft(URL_A)), invalidations.add(draft(URL_A))]);
    const failed = appends;
    before = async () => 'write';
    await invalidations.add(draft(URL_A));
    await waitUntil('it is written', () => journal.end() > 0);
    await invalidations.drain();
    expect(appends).toBe(failed + 1);
  });

  test('for good: it is given up in the end, and that is said once', async () => {
    before = async () => 'fail';
    await Promise.all([URL_A, URL_B].map((url) => invalidations.add(draft(url))));
    await invalidations.drain();
    expect(lost).toEqual([expect.stringMatching(/ down$/)]);
  });

  test('nor answers: the client waits no longer than for any store', async () => {
    const { letGo } = holdWrites();
    const slow = invalidations.add(draft(URL_A));
    await slow;
    expect(journal.end()).toBe(0);
    letGo();
    await waitUntil('it is written', () => journal.end() > 0);
  });
});

describe('among those who store the page', () => {
  test('it is taken out in its turn', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await save(URL_A);
    const { key } = draft(URL_A);
    const other = storing.take(key, () => held);
    const done = invalidations.add(draft(URL_A));
    await waitUntil('it is written', () => journal.end() > 0);
    expect(await isStored(URL_A)).toBe(true);
    letGo();
    await Promise.all([other, done]);
    await invalidations.drain();
    expect(await isStored(URL_A)).toBe(false);
  });

  test('where nobody says whose turn it is, it is taken out all the same', async () => {
    const enter = async () => ({ role: 'unavailable', reason: 'down' }) as const;
    start({ ...createSoloLeases(), enter });
    await save(URL_A);
    await invalidations.add(draft(URL_A));
    expect(await isStored(URL_A)).toBe(false);
  });
});
