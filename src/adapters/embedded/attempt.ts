// Turns what lmdb throws into `unavailable`. After a failure the store is left alone for a while, so
// that a full disk costs one attempt every few seconds and not one a request.
import type { Clock } from '../../pipeline/ports.ts';

const BACK_OFF_MS = 2_000;

export interface Unavailable {
  readonly state: 'unavailable';
  readonly reason: string;
}

export type Attempt = <T>(operation: () => Promise<T>) => Promise<T | Unavailable>;

/** Told of the first failure, and of the first success after it. */
export interface OutageListener {
  readonly onFailing: (reason: string) => void;
  readonly onRecovered: () => void;
}

/** Makes a runner of operations that answers `unavailable` at once while they are known to fail. */
export function createAttempt(clock: Clock, listener: OutageListener): Attempt {
  let outage: { readonly retryAt: number; readonly reason: string } | null = null;
  return async (operation) => {
    if (outage !== null && clock.now() < outage.retryAt) {
      return { state: 'unavailable', reason: outage.reason };
    }
    try {
      const answer = await operation();
      if (outage !== null) listener.onRecovered();
      outage = null;
      return answer;
    } catch (error) {
      const reason = describeFailure(error);
      if (outage === null) listener.onFailing(reason);
      outage = { retryAt: clock.now() + BACK_OFF_MS, reason };
      return { state: 'unavailable', reason };
    }
  };
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('commitError' in error) {
    // The cause comes in a promise that lmdb has printed already; unhandled it would end the process.
    Promise.resolve(error.commitError).catch(() => undefined);
    return 'commit failed';
  }
  return error.message;
}
