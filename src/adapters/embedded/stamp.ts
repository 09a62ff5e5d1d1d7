// Versions of what is written to the environment: every write has its own.
import { randomInt } from 'node:crypto';

const STAMPS_PER_MS = 1_024;

/** Unique over processes: a millisecond, and 1 of 1,024 in it. */
export function nextStamp(nowMs: number): number {
  return Math.floor(nowMs) * STAMPS_PER_MS + randomInt(STAMPS_PER_MS);
}
