// Bounded questions: nobody waits longer than for any store, and after an answer that did not come
// in time nobody waits at all for a while.
import type { Clock, Done } from '../../pipeline/ports.ts';
import type { QueueClient } from './open-clients.ts';
import type { Outages } from './report-outages.ts';

export type Ask = <T>(question: () => Promise<T>) => Promise<Done<T>>;

export interface AskParts {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly outages: Outages;
  readonly timeoutMs: number;
}

const REST_MS = 1_000;

export function createAsk({ client, clock, outages, timeoutMs }: AskParts): Ask {
  let restsUntil = 0;
  return async <T>(question: () => Promise<T>): Promise<Done<T>> => {
    if (client.status !== 'ready' || clock.now() < restsUntil) {
      return { state: 'unavailable', reason: 'disconnected' };
    }
    const answer = question().then(
      (value): Done<T> => ({ state: 'done', value }),
      (error: unknown): Done<T> => ({ state: 'unavailable', reason: outages.describe(error) }),
    );
    const done = (await waitAtMost(timeoutMs, answer)) ?? TIMEOUT;
    if (done.state === 'unavailable' && done.reason === TIMEOUT.reason) {
      restsUntil = clock.now() + REST_MS;
    }
    return done;
  };
}

const TIMEOUT = { state: 'unavailable', reason: 'timeout' } as const;

/** The result, or null when it takes longer. */
export async function waitAtMost<T>(timeMs: number, result: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, timeMs, null);
  });
  return await Promise.race([result, timeUp]).finally(() => clearTimeout(timer));
}
