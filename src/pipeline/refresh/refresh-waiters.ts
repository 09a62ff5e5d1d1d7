// Waits for jobs of the refresh queue to end, wherever they are run. Bounded in time: a queue may
// lose a job, as when its Redis is emptied.
import type { CacheKey } from '../ports.ts';
import type { PutOffRefresh, RefreshQueue, RefreshResult } from '../refresh-ports.ts';

export interface AwaitedRefresh {
  readonly result: Promise<RefreshResult>;
  /** It was not taken on, or nobody wants to know any more. */
  readonly cancel: () => void;
}

export interface RefreshWaiters {
  /**
   * Called before the job is added, or its end could be missed.
   *
   * @param onPutOff told each time it goes back into the queue for a while
   */
  readonly expect: (
    key: CacheKey,
    onPutOff: (putOff: Omit<PutOffRefresh, 'key'>) => void,
  ) => AwaitedRefresh;
  /** Ends all waiting. */
  readonly close: () => void;
}

interface Waiter {
  readonly settle: (result: RefreshResult) => void;
  readonly onPutOff: (putOff: Omit<PutOffRefresh, 'key'>) => void;
}

const WAIT_MS_MAX = 30 * 60_000;
const NO_WORD: RefreshResult = { outcome: 'failed', detail: 'no_word' };
const STOPPING: RefreshResult = { outcome: 'failed', detail: 'stopping' };

export function createRefreshWaiters(
  queue: Pick<RefreshQueue, 'onFinished' | 'onPutOff'>,
): RefreshWaiters {
  const waiting = new Map<CacheKey, Set<Waiter>>();
  let stopListening: (() => void) | null = null;

  function listen(): () => void {
    const stops = [
      queue.onFinished(({ key, outcome, detail }) => {
        for (const { settle } of waiting.get(key) ?? []) settle({ outcome, detail });
      }),
      queue.onPutOff(({ key, ...putOff }) => {
        for (const { onPutOff } of waiting.get(key) ?? []) onPutOff(putOff);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  return {
    expect: (key, onPutOff) => {
      stopListening ??= listen();
      const waiters = waiting.get(key) ?? new Set();
      waiting.set(key, waiters);
      let cancel = (): void => undefined;
      const result = new Promise<RefreshResult>((resolve) => {
        const settle = (how: RefreshResult): void => {
          clearTimeout(timer);
          waiters.delete(waiter);
          if (waiters.size === 0 && waiting.get(key) === waiters) waiting.delete(key);
          resolve(how);
        };
        const waiter = { settle, onPutOff };
        const timer = setTimeout(settle, WAIT_MS_MAX, NO_WORD);
        waiters.add(waiter);
        cancel = () => settle(NO_WORD);
      });
      return { result, cancel };
    },
    close: () => {
      stopListening?.();
      for (const waiters of [...waiting.values()]) {
        for (const { settle } of [...waiters]) settle(STOPPING);
      }
    },
  };
}
