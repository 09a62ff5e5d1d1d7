// What a process tells the usage book of the uses of its pages, and how seldom.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createUseNotes, type UseNotes } from '../../src/pipeline/upkeep/use-notes.ts';
import type { UsageChange } from '../../src/pipeline/upkeep-ports.ts';
import type { TestClock } from '../contract/test-clock.ts';
import { type StoredStore, useStore, valueOf } from './stored-store.ts';

const MINUTE_MS = 60_000;
const KEY = `cache:1:1:${'a'.repeat(16)}`;
const OTHER = `cache:1:1:${'b'.repeat(16)}`;

let clock: TestClock;
let store: StoredStore;
let told: UsageChange[];
let notes: UseNotes;
useStore((opened, itsClock) => {
  store = opened;
  clock = itsClock;
});
beforeEach(() => {
  told = [];
  const { usage } = store.deps;
  const book = {
    ...usage,
    apply: async (changes: readonly UsageChange[]) => {
      told.push(...changes);
      return await usage.apply(changes);
    },
  };
  notes = createUseNotes({ book, clock });
});
afterEach(() => notes.close());

test('a page that is hit all the time is told once in some minutes', async () => {
  for (let minute = 0; minute < 20; minute += 1) {
    for (let i = 0; i < 1_000; i += 1) notes.used(KEY);
    await notes.flush();
    clock.advance(MINUTE_MS);
  }
  expect(told.length).toBeGreaterThanOrEqual(5);
  expect(told.length).toBeLessThanOrEqual(10);
});

test('of one page the last word counts, with the time of its last use', async () => {
  notes.used(OTHER);
  notes.stored(OTHER, 10);
  notes.stored(KEY, 10);
  clock.advance(5_000);
  notes.used(KEY);
  await notes.flush();
  expect(told).toEqual([
    { kind: 'stored', key: OTHER, bytes: 10, usedAt: clock.now() - 5_000 },
    { kind: 'stored', key: KEY, bytes: 10, usedAt: clock.now() },
  ]);
  notes.stored(KEY, 20);
  notes.gone(KEY);
  notes.used(KEY);
  await notes.flush();
  expect(told.slice(2)).toEqual([{ kind: 'gone', key: KEY }]);
  expect(valueOf(await store.deps.usage.countHosts())).toEqual([
    { hostId: 1, entries: 1, bytes: 10 },
  ]);
});

test('a burst of pages that are stored is told whole', async () => {
  const keyOf = (i: number): string => `cache:1:1:${i.toString(16).padStart(16, '0')}`;
  for (let i = 0; i < 1_500; i += 1) notes.stored(keyOf(i), 1);
  await notes.flush();
  expect(valueOf(await store.deps.usage.countHosts())).toMatchObject([{ entries: 1_500 }]);
});

test('a clock that was set back lets uses be told again', async () => {
  notes.used(KEY);
  await notes.flush();
  clock.advance(-60 * MINUTE_MS);
  notes.used(KEY);
  await notes.flush();
  expect(told).toHaveLength(2);
});
