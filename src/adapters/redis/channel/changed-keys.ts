// Which keys have changed since when, by a counter of this process: what was read before the last
// change of its key, or before everything was distrusted, is not current. Bounded: what is lost
// of the oldest changes is made good by distrusting everything from before them.

export interface ChangedKeys {
  /** The present; to be taken before a read is sent. */
  readonly stamp: () => number;
  readonly note: (key: string) => void;
  /** Distrusts all that was read so far. */
  readonly distrustAll: () => void;
  readonly isUnchanged: (key: string, stamp: number) => boolean;
}

const KEYS_MAX = 20_000;

/** Makes the table; nothing has changed yet. */
export function createChangedKeys(keysMax = KEYS_MAX): ChangedKeys {
  let now = 1;
  let floor = 0;
  const changedAt = new Map<string, number>();

  function dropOldest(): void {
    const [oldest] = changedAt;
    if (oldest === undefined) return;
    floor = oldest[1];
    changedAt.delete(oldest[0]);
  }

  return {
    stamp: () => now,
    note: (key) => {
      now += 1;
      // Behind the others, which are thus in the order of their changes.
      changedAt.delete(key);
      changedAt.set(key, now);
      if (changedAt.size > keysMax) dropOldest();
    },
    distrustAll: () => {
      now += 1;
      floor = now;
      changedAt.clear();
    },
    isUnchanged: (key, stamp) => stamp >= floor && stamp >= (changedAt.get(key) ?? 0),
  };
}
