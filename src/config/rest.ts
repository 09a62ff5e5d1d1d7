// Long work on the thread that serves, in slices: while a configuration with thousands of hosts or
// expressions is read, requests are answered as before.
import { setImmediate as yieldTurn } from 'node:timers/promises';

/** Called between two pieces of the work: lets the others have their turn when it has been long. */
export type Rest = () => Promise<void>;

const SLICE_MS = 5;

export function createRest(): Rest {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SLICE_MS) return;
    await yieldTurn();
    startedAt = performance.now();
  };
}
