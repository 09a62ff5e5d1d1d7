// One after another for each key: two writers of one page in this process don't mix their bodies.
// For other processes see store-turns.ts.
import type { CacheKey } from '../ports.ts';

export interface KeyTurns {
  readonly take: <T>(key: CacheKey, run: () => Promise<T>) => Promise<T>;
}

export function createKeyTurns(): KeyTurns {
  const last = new Map<CacheKey, Promise<unknown>>();
  return {
    take: async (key, run) => {
      const before = last.get(key) ?? Promise.resolve();
      // Whatever became of the one before is told to whoever waits for that.
      const own = before.then(run, run);
      last.set(key, own);
      try {
        return await own;
      } finally {
        if (last.get(key) === own) last.delete(key);
      }
    },
  };
}
