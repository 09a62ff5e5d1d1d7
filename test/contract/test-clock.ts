// A clock that starts at the present and stands still until told. It starts at the present because
// Redis has a clock of its own and expires by it.
import type { Clock } from '../../src/pipeline/ports.ts';

export interface TestClock extends Clock {
  readonly advance: (byMs: number) => void;
}

/** Makes a clock that stands at the present. */
export function createTestClock(): TestClock {
  let now = Date.now();
  return {
    now: () => now,
    advance: (byMs) => {
      now += byMs;
    },
  };
}
