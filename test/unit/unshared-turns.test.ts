// Those who waited for what is for one alone: all go on, in their order, a few in each turn of the
// event loop, so that what the first have begun goes out before the last have begun.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { unshared } from '../../src/pipeline/shared-cache/exchange-end.ts';

const WAITING = 200;

function startAll(): { readonly started: readonly number[]; readonly all: Promise<unknown> } {
  const end = unshared();
  if (end.kind !== 'unshared') throw new Error(end.kind);
  const started: number[] = [];
  const all = Array.from({ length: WAITING }, async (_, index) => {
    await end.takeTurn();
    started.push(index);
  });
  return { started, all: Promise.all(all) };
}

test('all go on, in their order', async () => {
  const { started, all } = startAll();
  await all;
  expect(started).toEqual(Array.from({ length: WAITING }, (_, index) => index));
});

test('a few in each turn, so that others have theirs', async () => {
  const { started, all } = startAll();
  const counts = [0];
  while (started.length < WAITING) {
    await nextTurn();
    counts.push(started.length);
  }
  await all;
  const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(32);
  expect(steps.length).toBeGreaterThan(5);
});

test('who comes when all have gone on waits for no more than a turn', async () => {
  const end = unshared();
  if (end.kind !== 'unshared') throw new Error(end.kind);
  for (let index = 0; index < WAITING; index += 1) await end.takeTurn();
  await end.takeTurn();
});
