// New metadata for a page that is stored: never where a purge has come meanwhile, whether the log
// still tells of it or not.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Entry } from '../../src/pipeline/ports.ts';
import type { PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import type { PageStore } from '../../src/pipeline/store/page-store.ts';
import type { PageDraft } from '../../src/pipeline/store/save-page.ts';
import { openEmbeddedSubject } from './open-entry-stores.ts';
import { openPages, type PagesSubject } from './open-pages.ts';

const URL_A = 'https://example.com/a';

let stored: PagesSubject;
let journal: PurgeJournal;
let pages: PageStore;
let draft: PageDraft;
let previous: Entry;
beforeEach(async () => {
  stored = await openPages(openEmbeddedSubject, 1_000_000);
  ({ journal, pages } = stored);
  draft = stored.draft(URL_A);
  await pages.save(draft);
  await pages.drain();
  const found = await stored.subject.store.get(draft.key);
  previous = found.state === 'found' ? found.value : expect.unreachable(found.state);
  stored.clock.advance(1_000);
});
afterEach(() => stored.dispose());

const renewed = (): Entry => ({ ...previous, cachedAt: previous.cachedAt + 1_000 });
const cachedAt = async (): Promise<number | string> => {
  const found = await pages.lookUp(draft.key, draft.ref, URL_A);
  return found.state === 'hit' ? found.entry.cachedAt - previous.cachedAt : found.state;
};

test('takes the place of what was validated', async () => {
  expect(await pages.renew(draft.key, { previous, next: renewed() })).toMatchObject({
    value: true,
  });
  expect(await cachedAt()).toBe(1_000);
});

test('and of nothing else', async () => {
  await pages.renew(draft.key, { previous, next: renewed() });
  const late = { ...previous, cachedAt: previous.cachedAt + 500 };
  expect(await pages.renew(draft.key, { previous, next: late })).toMatchObject({ value: false });
  expect(await cachedAt()).toBe(1_000);
});

test('a purge that the log tells of', async () => {
  await journal.append({ selector: { kind: 'all' }, soft: false, undoes: null });
  expect(await pages.renew(draft.key, { previous, next: renewed() })).toMatchObject({
    value: false,
  });
  expect(await cachedAt()).toBe('absent');
});

test('a purge that the log tells of no more: it stays as it was', async () => {
  const renewal = { previous, next: renewed(), isPurged: () => true };
  expect(await pages.renew(draft.key, renewal)).toMatchObject({ value: false });
  expect(await cachedAt()).toBe(0);
});

test('such a purge while it is written: it goes', async () => {
  let asked = 0;
  const isPurged = (): boolean => {
    asked += 1;
    return asked > 1;
  };
  const renewal = { previous, next: renewed(), isPurged };
  expect(await pages.renew(draft.key, renewal)).toMatchObject({ value: false });
  expect(await cachedAt()).toBe('absent');
});
