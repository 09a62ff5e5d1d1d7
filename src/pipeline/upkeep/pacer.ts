// Rests in proportion to the work before, so that a long walk takes a small share of a core and
// whatever else the process has to do comes in between; each rest ends at once when it is stopped.
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

export interface Pacer {
  /** @param share of the time that is work, from 0 to 1 */
  readonly restAfter: (workedMs: number, share: number) => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
  readonly isStopped: () => boolean;
  readonly stop: () => void;
}

const REST_MAX_MS = 1_000;

export function createPacer(): Pacer {
  const abort = new AbortController();
  // As many waits at once as there are changes on their way: each listens, and none stays.
  setMaxListeners(0, abort.signal);
  const pause = async (ms: number): Promise<void> => {
    const options = { ref: false, signal: abort.signal };
    // Stopping is the one thing that ends it early.
    await wait(ms, undefined, options).catch(() => undefined);
  };
  return {
    restAfter: (workedMs, share) => pause(Math.min(workedMs * (1 / share - 1), REST_MAX_MS)),
    wait: pause,
    isStopped: () => abort.signal.aborted,
    stop: () => abort.abort(),
  };
}
