// Any number of requests for one page cause one fetch. The fetch belongs to no client: whoever
// leaves, it goes on for the rest, and its place is free again in the same turn in which it ends,
// unless it stays until its result is found elsewhere.

export type FlightTurn<T> =
  | { readonly role: 'leader'; readonly result: Promise<T> }
  | { readonly role: 'follower'; readonly result: Promise<T> }
  /** As many as may wait for one page are waiting already. */
  | { readonly role: 'refused' };

export interface Collapser<T> {
  /** Joins the running fetch of this key, or starts it. */
  readonly join: (key: string, waitersMax: number, start: StartFlight<T>) => FlightTurn<T>;
  readonly isRunning: (key: string) => boolean;
  /** Whoever comes from now on starts anew; those who wait already keep what they wait for. */
  readonly detach: (isMeant: (key: string) => boolean) => void;
  /** Resolves when the fetches that run now have ended: what they use can be closed. */
  readonly drain: () => Promise<void>;
}

/**
 * @param stay until then whoever comes has the result too, at once: nobody waits, and nobody is
 *   refused
 */
export type StartFlight<T> = (stay: (until: Promise<unknown>) => void) => Promise<T>;

interface Flight<T> {
  readonly result: Promise<T>;
  waiters: number;
  isKnown: boolean;
}

export function createCollapser<T>(): Collapser<T> {
  const flights = new Map<string, Flight<T>>();
  const unfinished = new Set<Promise<T>>();
  return {
    join: (key, waitersMax, start) => {
      const running = flights.get(key);
      if (running !== undefined) {
        if (running.isKnown) return { role: 'follower', result: running.result };
        if (running.waiters >= waitersMax) return { role: 'refused' };
        running.waiters += 1;
        return { role: 'follower', result: running.result };
      }
      const stays: Promise<unknown>[] = [];
      const leave = (): void => {
        if (flights.get(key) === flight) flights.delete(key);
      };
      const result = start((until) => void stays.push(until)).finally(() => {
        unfinished.delete(result);
        flight.isKnown = true;
        if (stays.length === 0) leave();
        else void Promise.allSettled(stays).then(leave);
      });
      const flight: Flight<T> = { result, waiters: 0, isKnown: false };
      unfinished.add(result);
      flights.set(key, flight);
      return { role: 'leader', result };
    },
    isRunning: (key) => flights.has(key),
    detach: (isMeant) => {
      for (const key of flights.keys()) if (isMeant(key)) flights.delete(key);
    },
    drain: async () => void (await Promise.allSettled(unfinished)),
  };
}
