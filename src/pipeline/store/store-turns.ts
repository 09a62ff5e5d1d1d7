// Who writes a page: one after another, in this process and then, by a lease, over all that share
// the store. Body and metadata of two writers don't mix, and what is read before it is written is
// still true. Whoever can't be told that it is its turn writes nothing.

import type { CacheKey, Clock, LeaseResult, Leases } from '../ports.ts';
import { within } from '../within.ts';
import { createKeyTurns } from './key-turns.ts';

export interface StoreTurns {
  /**
   * Runs when nobody else writes under the key; null: that was not to be had, and it did not run.
   */
  readonly take: <T>(key: CacheKey, run: () => Promise<T>) => Promise<T | null>;
}

export interface StoreTurnsDeps {
  readonly leases: Leases;
  readonly clock: Clock;
}

/** How long a writer waits for the others; a dead one is found out much sooner. */
const WAIT_MS_MAX = 10_000;
/** How often it asks, if others are faster each time. */
const TRIES_MAX = 50;
/** For who waits: it's your turn, whatever came of ours. */
const ENDED: LeaseResult = { outcome: 'lost', reason: null };

export function createStoreTurns({ leases, clock }: StoreTurnsDeps): StoreTurns {
  const turns = createKeyTurns();

  async function lead<T>(key: CacheKey, run: () => Promise<T>): Promise<T | null> {
    const giveUpAt = clock.now() + WAIT_MS_MAX;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      // Another name than that of the page's fetch, during which it is stored.
      const turn = await leases.enter(`store:${key}`);
      if (turn.role === 'unavailable') return null;
      if (turn.role === 'leader') {
        try {
          return await run();
        } finally {
          await turn.lease.release(ENDED);
        }
      }
      if ((await within(giveUpAt - clock.now(), turn.result)) === null) return null;
    }
    return null;
  }

  return { take: (key, run) => turns.take(key, () => lead(key, run)) };
}
