// Whether the renderer of our own can be used, and who waits until it can. It is waited for while
// it will be there soon: not for longer than its patience, and not when it has failed.
import type { Done } from '../../pipeline/ports.ts';

export interface Readiness {
  /** It is starting, and worth waiting for. */
  readonly begin: () => void;
  readonly succeed: () => void;
  /** Nobody knows when it will be there: all go on without it, now and until it succeeds. */
  readonly fail: (reason: string) => void;
  readonly isReady: () => boolean;
  /** Resolves as soon as it is ready or has failed; `unavailable` also when the time is over. */
  readonly untilReady: (timeoutMs: number) => Promise<Done<void>>;
}

export interface ReadinessOptions {
  readonly patienceMs: number;
  /** It was not ready within its patience. */
  readonly onLate: () => void;
}

const READY: Done<void> = { state: 'done', value: undefined };
const STARTING: Done<void> = { state: 'unavailable', reason: 'renderer_starting' };

/** Begins as failed: nothing has been started. */
export function createReadiness({ patienceMs, onLate }: ReadinessOptions): Readiness {
  let state = failed('not started');
  let patience: NodeJS.Timeout | undefined;
  const waiting = new Set<(state: Done<void>) => void>();

  const change = (next: Done<void>): void => {
    clearTimeout(patience);
    state = next;
    if (next !== STARTING) for (const leave of waiting) leave(next);
  };
  return {
    begin: () => {
      change(STARTING);
      patience = setTimeout(() => {
        change(failed(`not ready in ${patienceMs} ms`));
        onLate();
      }, patienceMs);
    },
    succeed: () => change(READY),
    fail: (reason) => change(failed(reason)),
    isReady: () => state === READY,
    untilReady: async (timeoutMs) => {
      if (state !== STARTING) return state;
      return await new Promise((resolve) => {
        const leave = (told: Done<void>): void => {
          clearTimeout(timer);
          waiting.delete(leave);
          resolve(told);
        };
        const timer = setTimeout(() => leave(STARTING), timeoutMs);
        waiting.add(leave);
      });
    },
  };
}

function failed(reason: string): Done<void> {
  return { state: 'unavailable', reason: `renderer_failed: ${reason}` };
}
