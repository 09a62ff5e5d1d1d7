// A bounded memo in two generations: what was used lately stays, and forgetting costs nothing. For
// what can always be made again.

export interface RecentMap<T> {
  readonly get: (key: string) => T | undefined;
  readonly set: (key: string, value: T) => void;
  readonly clear: () => void;
}

/** @param max of values that are surely kept; twice as many may be */
export function createRecentMap<T>(max: number): RecentMap<T> {
  let current = new Map<string, T>();
  let previous = new Map<string, T>();
  const set = (key: string, value: T): void => {
    if (current.size >= max) {
      previous = current;
      current = new Map();
    }
    current.set(key, value);
  };
  return {
    get: (key) => {
      const found = current.get(key);
      if (found !== undefined) return found;
      const old = previous.get(key);
      if (old !== undefined) set(key, old);
      return old;
    },
    set,
    clear: () => {
      current = new Map();
      previous = new Map();
    },
  };
}
