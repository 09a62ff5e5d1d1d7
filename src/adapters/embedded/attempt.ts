// Turns what lmdb throws into `unavailable`. After a failure the store is left alone for a while,
// so that a full disk costs one attempt every few seconds and not one a request.
import { createOutage, type OutageListener } from '../../core/outage.ts';
import type { Clock } from '../../pipeline/ports.ts';

const BACK_OFF_MS = 2_000;

export interface Unavailable {
  readonly state: 'unavailable';
  readonly reason: string;
}

export type Attempt = <T>(operation: () => Promise<T>) => Promise<T | Unavailable>;

/** Makes a runner of operations that answers `unavailable` at once while they are known to fail. */
export function createAttempt(clock: Clock, listener: OutageListener): Attempt {
  const outage = createOutage(BACK_OFF_MS, listener);
  return async (operation) => {
    const known = outage.reasonAt(clock.now());
    if (known !== null) return { state: 'unavailable', reason: known };
    try {
      const answer = await operation();
      outage.succeed();
      return answer;
    } catch (error) {
      const reason = describeFailure(error);
      outage.fail(clock.now(), reason);
      return { state: 'unavailable', reason };
    }
  };
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('commitError' in error) {
    // The cause is a promise, and printed by lmdb already; unhandled it would end the process.
    Promise.resolve(error.commitError).catch(() => undefined);
    return 'commit failed';
  }
  return error.message;
}
