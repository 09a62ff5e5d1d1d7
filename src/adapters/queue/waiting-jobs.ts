// The jobs of a queue in memory: one a page; those that wait in order, the most urgent first; those
// that were put off until their time.
import {
  mergeJobs,
  type RefreshJob,
  URGENCIES,
  urgencyOf,
} from '../../core/refresh/refresh-job.ts';
import type { CacheKey } from '../../pipeline/ports.ts';

export interface WaitingJobs {
  /** Makes it one with the job for its page, if there is one. */
  readonly merge: (job: RefreshJob) => boolean;
  readonly put: (job: RefreshJob) => void;
  readonly putOff: (job: RefreshJob, delayMs: number) => void;
  readonly takeFirst: () => RefreshJob | null;
  readonly counts: () => { readonly waiting: number; readonly delayed: number };
  readonly clear: () => void;
}

/** @param onDue a job that was put off waits again */
export function createWaitingJobs(onDue: () => void): WaitingJobs {
  const ranks = new Map<number, Map<CacheKey, RefreshJob>>(
    URGENCIES.map((urgency) => [urgency, new Map()]),
  );
  const delayed = new Map<CacheKey, { job: RefreshJob; readonly timer: NodeJS.Timeout }>();

  function put(job: RefreshJob): void {
    ranks.get(urgencyOf(job))?.set(job.key, job);
  }

  function merge(job: RefreshJob): boolean {
    const later = delayed.get(job.key);
    if (later !== undefined) {
      later.job = mergeJobs(later.job, job);
      return true;
    }
    for (const rank of ranks.values()) {
      const waiting = rank.get(job.key);
      if (waiting === undefined) continue;
      const merged = mergeJobs(waiting, job);
      // Its place stays when it is no more urgent than before.
      if (merged.reason !== waiting.reason) rank.delete(job.key);
      put(merged);
      return true;
    }
    return false;
  }

  return {
    merge,
    put,
    putOff: (job, delayMs) => {
      // Asked for anew while it ran: that one is not put off.
      if (merge(job)) return;
      const timer = setTimeout(() => {
        const due = delayed.get(job.key);
        delayed.delete(job.key);
        if (due !== undefined) put(due.job);
        onDue();
      }, delayMs);
      delayed.set(job.key, { job, timer });
    },
    takeFirst: () => {
      for (const rank of ranks.values()) {
        for (const [key, job] of rank) {
          rank.delete(key);
          return job;
        }
      }
      return null;
    },
    counts: () => ({
      waiting: [...ranks.values()].reduce((sum, rank) => sum + rank.size, 0),
      delayed: delayed.size,
    }),
    clear: () => {
      for (const { timer } of delayed.values()) clearTimeout(timer);
      delayed.clear();
      for (const rank of ranks.values()) rank.clear();
    },
  };
}
