// Waits for jobs of the refresh queue to end, wherever they are run. Bounded in time: a queue may
// lose a job, as when its Redis is emptied.
import type { CacheKey } from '../ports.ts';
import type { RefreshQueue, RefreshResult } from '../refresh-ports.ts';

export interface AwaitedRefresh {
  readonly result: Promise<RefreshResult>;
  /** It was not taken on, or nobody wants to know any more. */
  readonly cancel: () => void;
}

export interface RefreshWaiters {
  /** Called before the job is added, or its end could be missed. */
  readonly expect: (key: CacheKey) => AwaitedRefresh;
  /** Ends all waiting. */
  readonly close: () => void;
}

const WAIT_MS_MAX = 30 * 60_000;
const NO_WORD: RefreshResult = { outcome: 'failed', detail: 'no_word' };
const STOPPING: RefreshResult = { outcome: 'failed', detail: 'stopping' };

export function createRefreshWaiters(queue: Pick<RefreshQueue, 'onFinished'>): RefreshWaiters {
  const waiting = new Map<CacheKey, Set<(result: RefreshResult) => void>>();
  let stopListening: (() => void) | null = null;

  return {
    expect: (key) => {
      stopListening ??= queue.onFinished(({ key: ended, outcome, detail }) => {
        for (const settle of waiting.get(ended) ?? []) settle({ outcome, detail });
      });
      const settlers = waiting.get(key) ?? new Set();
      waiting.set(key, settlers);
      let cancel = (): void => undefined;
      const result = new Promise<RefreshResult>((resolve) => {
        const settle = (how: RefreshResult): void => {
          clearTimeout(timer);
          settlers.delete(settle);
          if (settlers.size === 0 && waiting.get(key) === settlers) waiting.delete(key);
          resolve(how);
        };
        const timer = setTimeout(settle, WAIT_MS_MAX, NO_WORD);
        settlers.add(settle);
        cancel = () => settle(NO_WORD);
      });
      return { result, cancel };
    },
    close: () => {
      stopListening?.();
      for (const settlers of [...waiting.values()]) {
        for (const settle of [...settlers]) settle(STOPPING);
      }
    },
  };
}
