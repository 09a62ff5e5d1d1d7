// Any number of requests for one page cause one fetch. The fetch belongs to no client: whoever
// leaves, it goes on for the rest, and its place is free again in the same turn in which it ends.

export type FlightTurn<T> =
  | { readonly role: 'leader'; readonly result: Promise<T> }
  | { readonly role: 'follower'; readonly result: Promise<T> }
  /** As many as may wait for one page are waiting already. */
  | { readonly role: 'refused' };

export interface Collapser<T> {
  /** Joins the running fetch of this key, or starts it. */
  readonly join: (key: string, waitersMax: number, start: () => Promise<T>) => FlightTurn<T>;
  readonly isRunning: (key: string) => boolean;
  /** Whoever comes from now on starts anew; those who wait already keep what they wait for. */
  readonly detach: (isMeant: (key: string) => boolean) => void;
  /** Resolves when the fetches that run now have ended: what they use can be closed. */
  readonly drain: () => Promise<void>;
}

interface Flight<T> {
  readonly result: Promise<T>;
  waiters: number;
}

export function createCollapser<T>(): Collapser<T> {
  const flights = new Map<string, Flight<T>>();
  const unfinished = new Set<Promise<T>>();
  return {
    join: (key, waitersMax, start) => {
      const running = flights.get(key);
      if (running !== undefined) {
        if (running.waiters >= waitersMax) return { role: 'refused' };
        running.waiters += 1;
        return { role: 'follower', result: running.result };
      }
      const result = start().finally(() => {
        unfinished.delete(result);
        if (flights.get(key)?.result === result) flights.delete(key);
      });
      unfinished.add(result);
      flights.set(key, { result, waiters: 0 });
      return { role: 'leader', result };
    },
    isRunning: (key) => flights.has(key),
    detach: (isMeant) => {
      for (const key of flights.keys()) if (isMeant(key)) flights.delete(key);
    },
    drain: async () => void (await Promise.allSettled(unfinished)),
  };
}
