// Waits for a condition, not for a time; the deadline only bounds a failure.
import { setTimeout as wait } from 'node:timers/promises';

const DEADLINE_MS = 10_000;
const PAUSE_MS = 10;

/** Asks again and again until the answer is true, and fails after ten seconds, or so many. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await wait(PAUSE_MS);
  }
}
