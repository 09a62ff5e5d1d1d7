// Who waits for the own renderer, and until when.
import { expect, onTestFinished, test } from 'vitest';
import { createReadiness, type Readiness } from '../../src/adapters/renderer-process/readiness.ts';

const LONG_MS = 60_000;
const STARTING = { state: 'unavailable', reason: 'renderer_starting' };
const READY = { state: 'done', value: undefined };
const failed = (reason: string) => ({
  state: 'unavailable',
  reason: `renderer_failed: ${reason}`,
});

function create(patienceMs: number, onLate = () => undefined): Readiness {
  const readiness = createReadiness({ patienceMs, onLate });
  onTestFinished(() => readiness.fail('the test is over'));
  return readiness;
}

test.each<[string, (readiness: Readiness) => void, object]>([
  ['it becomes ready: all go on', (one) => one.succeed(), READY],
  ['it fails: all go without it', (one) => one.fail('no browser'), failed('no browser')],
  [
    'it begins anew: they wait on',
    (one) => {
      one.begin();
      one.succeed();
    },
    READY,
  ],
])('while it starts, %s', async (_what, change, expected) => {
  const readiness = create(LONG_MS);
  readiness.begin();
  const waiting = [readiness.untilReady(LONG_MS), readiness.untilReady(LONG_MS)];
  change(readiness);
  expect(await Promise.all(waiting)).toEqual([expected, expected]);
  expect(await readiness.untilReady(LONG_MS)).toEqual(expected);
});

test('a waiter has its own time', async () => {
  const readiness = create(LONG_MS);
  readiness.begin();
  expect(await readiness.untilReady(0)).toEqual(STARTING);
  expect(readiness.isReady()).toBe(false);
});

test('patience ends the wait of all, once; it may come later all the same', async () => {
  let late = 0;
  const readiness = create(20, () => {
    late += 1;
  });
  readiness.begin();
  expect(await readiness.untilReady(LONG_MS)).toEqual(failed('not ready in 20 ms'));
  expect(late).toBe(1);
  readiness.succeed();
  expect(await readiness.untilReady(0)).toEqual(READY);
});

test('what was never started is waited for by nobody', async () => {
  expect(await create(LONG_MS).untilReady(LONG_MS)).toEqual(failed('not started'));
});
