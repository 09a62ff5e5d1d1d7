// Adds a job: within the bound of the queue, and as one job with the one for the same page that is
// waiting already. While that one runs, BullMQ keeps a place for one more.
import { randomUUID } from 'node:crypto';
import type { Queue } from 'bullmq';
import {
  mergeJobs,
  parseRefreshJob,
  placesFor,
  type RefreshJob,
  urgencyOf,
} from '../../core/refresh/refresh-job.ts';
import type { Clock } from '../../pipeline/ports.ts';
import { formatJobId, formatPageId, QUEUE } from './names.ts';

export type Enqueue = (job: RefreshJob) => Promise<'added' | 'merged' | 'full'>;

/** How long a count of the queue is good enough for its bound. */
const COUNT_MEMORY_MS = 1_000;

export function createEnqueue(queue: Queue<RefreshJob>, jobsMax: number, clock: Clock): Enqueue {
  let known = { count: 0, at: Number.NEGATIVE_INFINITY };

  async function countWaiting(): Promise<number> {
    const age = clock.now() - known.at;
    if (age >= 0 && age < COUNT_MEMORY_MS) return known.count;
    const counts = await queue.getJobCounts('prioritized', 'wait', 'delayed');
    const count = Object.values(counts).reduce((sum, one) => sum + one, 0);
    known = { count, at: clock.now() };
    return count;
  }

  return async (job) => {
    if ((await countWaiting()) >= placesFor(job, jobsMax)) return 'full';
    const jobId = formatJobId(job.key, randomUUID());
    const added = await queue.add(QUEUE.name, job, {
      jobId,
      priority: urgencyOf(job),
      attempts: QUEUE.attemptsMax,
      removeOnComplete: true,
      removeOnFail: true,
      deduplication: { id: formatPageId(job.key), keepLastIfActive: true },
    });
    if (added.id !== jobId) {
      await mergeInto(queue, added.id ?? '', job);
      return 'merged';
    }
    known = { ...known, count: known.count + 1 };
    return 'added';
  };
}

/** Harmless for a job that has begun meanwhile. */
async function mergeInto(
  queue: Queue<RefreshJob>,
  jobId: string,
  asked: RefreshJob,
): Promise<void> {
  const waiting = await queue.getJob(jobId);
  const job = parseRefreshJob(waiting?.data);
  if (waiting === undefined || job === null) return;
  const merged = mergeJobs(job, asked);
  const isSame = merged.askedAt === job.askedAt && merged.tries === job.tries;
  if (!isSame || merged.reason !== job.reason) await waiting.updateData(merged);
  if (merged.reason !== job.reason) {
    await waiting.changePriority({ priority: urgencyOf(merged) });
  }
}
