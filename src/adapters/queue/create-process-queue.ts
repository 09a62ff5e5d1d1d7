// The RefreshQueue port in this process's memory, beside the embedded store. What waits is lost
// with the process; no page is, because the next hit and the next `warm` ask again.
import { placesFor, type RefreshJob } from '../../core/refresh/refresh-job.ts';
import type {
  FinishedRefresh,
  PutOffRefresh,
  RefreshQueue,
  RefreshStep,
} from '../../pipeline/refresh-ports.ts';
import { createWaitingJobs } from './waiting-jobs.ts';

export interface ProcessQueueOptions {
  /** Told what a job's run throws. */
  readonly onDefect: (error: unknown) => void;
  /** Jobs that may wait, delayed ones included. */
  readonly jobsMax?: number;
}

const JOBS_MAX = 100_000;
/** How long closing waits for running jobs. */
const CLOSE_TIMEOUT_MS = 20_000;

interface Handler {
  readonly run: (job: RefreshJob) => Promise<RefreshStep>;
  readonly concurrency: () => number;
}

export function createProcessQueue({
  onDefect,
  jobsMax = JOBS_MAX,
}: ProcessQueueOptions): RefreshQueue {
  const jobs = createWaitingJobs(take);
  const running = new Set<Promise<void>>();
  const listeners = new Set<(finished: FinishedRefresh) => void>();
  const putOffListeners = new Set<(putOff: PutOffRefresh) => void>();
  let handler: Handler | null = null;
  let isClosed = false;

  function take(): void {
    while (handler !== null && !isClosed && running.size < handler.concurrency()) {
      const job = jobs.takeFirst();
      if (job === null) return;
      const turn = runJob(job, handler).finally(() => {
        running.delete(turn);
        take();
      });
      running.add(turn);
    }
  }

  async function runJob(job: RefreshJob, { run }: Handler): Promise<void> {
    const step = await run(job).catch((error: unknown): RefreshStep => {
      onDefect(error);
      return { outcome: 'failed', detail: 'defect' };
    });
    if (step.outcome !== 'later') {
      for (const listener of listeners) listener({ key: job.key, ...step });
    } else if (!isClosed) {
      const { detail, delayMs } = step;
      jobs.putOff(step.job, delayMs);
      for (const listener of putOffListeners) listener({ key: job.key, detail, delayMs });
    }
  }

  return {
    name: 'process',
    add: async (job) => {
      if (isClosed) return { state: 'unavailable', reason: 'closed' };
      if (jobs.merge(job)) return { state: 'done', value: 'merged' };
      const { waiting, delayed } = jobs.counts();
      if (waiting + delayed >= placesFor(job, jobsMax)) return { state: 'done', value: 'full' };
      jobs.put(job);
      take();
      return { state: 'done', value: 'added' };
    },
    work: (run, concurrency) => {
      handler = { run, concurrency };
      take();
    },
    onFinished: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onPutOff: (listener) => {
      putOffListeners.add(listener);
      return () => void putOffListeners.delete(listener);
    },
    count: async () => ({ state: 'done', value: { ...jobs.counts(), running: running.size } }),
    close: async () => {
      isClosed = true;
      jobs.clear();
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      });
      await Promise.race([Promise.allSettled(running), timeUp]).finally(() => clearTimeout(timer));
    },
  };
}
