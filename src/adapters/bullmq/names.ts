// What BullMQ calls the queue and its jobs. The prefix is one hash tag, so that a Redis Cluster has
// all keys of the queue in one place; job ids may hold no colon.
import type { CacheKey } from '../../pipeline/ports.ts';

export const QUEUE = {
  name: 'refresh',
  prefix: '{edge-gateway}',
  /** Events that Redis keeps for those who wait for jobs. */
  eventsMax: 4_000,
  /** How often a job is begun that Redis fails while it runs. */
  attemptsMax: 3,
} as const;

/** Names a page among the jobs. */
export function formatPageId(key: CacheKey): string {
  return key.replaceAll(':', '-');
}

/** @param unique tells this job from earlier ones for the same page */
export function formatJobId(key: CacheKey, unique: string): string {
  return `${formatPageId(key)}~${unique}`;
}

/** The page of a job id as `formatJobId` writes it. */
export function keyOfJobId(jobId: string): CacheKey {
  return (jobId.split('~', 1)[0] ?? '').replaceAll('-', ':');
}
