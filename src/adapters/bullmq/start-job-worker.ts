// Takes jobs from the queue and runs them. A job that is put off goes back as it is then; a process
// that dies loses its lock on a job, and the next one takes it over, once.
import { DelayedError, type Job, Worker } from 'bullmq';
import { parseRefreshJob, type RefreshJob, urgencyOf } from '../../core/refresh/refresh-job.ts';
import type { Clock } from '../../pipeline/ports.ts';
import type { FinishedRefresh, RefreshStep } from '../../pipeline/refresh-ports.ts';
import { keyOfJobId, QUEUE } from './names.ts';
import type { QueueClient } from './open-clients.ts';
import type { Outages } from './report-outages.ts';

export interface WorkerTimes {
  /** How long a job is its process's without a word of it. */
  readonly lockTimeoutMs: number;
  /** How often somebody looks for jobs whose process died. */
  readonly checkIntervalMs: number;
}

export interface JobHandler {
  readonly run: (job: RefreshJob) => Promise<RefreshStep>;
  readonly concurrency: () => number;
}

interface WorkerParts extends Partial<WorkerTimes> {
  readonly client: QueueClient;
  readonly clock: Clock;
  readonly outages: Outages;
  readonly onDefect: (error: unknown) => void;
}

const LOCK_TIMEOUT_MS = 30_000;
const CHECK_INTERVAL_MS = 15_000;
/** How long the worker waits after Redis has failed it. */
const RETRY_PAUSE_MS = 1_000;

export interface RunningWorker {
  /** From now on it takes no more. */
  readonly stop: () => StoppingWorker;
}

export interface StoppingWorker {
  /** The jobs that run have ended. */
  readonly idle: Promise<unknown>;
  /** Redis knows how. */
  readonly closed: Promise<void>;
}

export function startJobWorker(handler: JobHandler, parts: WorkerParts): RunningWorker {
  const { lockTimeoutMs = LOCK_TIMEOUT_MS, checkIntervalMs = CHECK_INTERVAL_MS } = parts;
  const running = new Set<Promise<unknown>>();
  const run = (job: RefreshJob): Promise<RefreshStep> => {
    const turn = handler.run(job).finally(() => running.delete(turn));
    running.add(turn);
    return turn;
  };
  const worker = new Worker<RefreshJob, FinishedRefresh>(
    QUEUE.name,
    async (job, token) => {
      worker.concurrency = handler.concurrency();
      return await process(job, token, run, parts);
    },
    {
      connection: parts.client,
      prefix: QUEUE.prefix,
      skipVersionCheck: true,
      concurrency: handler.concurrency(),
      lockDuration: lockTimeoutMs,
      stalledInterval: checkIntervalMs,
      maxStalledCount: 1,
      runRetryDelay: RETRY_PAUSE_MS,
    },
  );
  worker.on('error', parts.outages.ignore);
  return {
    stop: () => ({ closed: worker.close(), idle: Promise.allSettled(running) }),
  };
}

async function process(
  taken: Job<RefreshJob>,
  token: string | undefined,
  run: JobHandler['run'],
  { clock, onDefect }: WorkerParts,
): Promise<FinishedRefresh> {
  const job = parseRefreshJob(taken.data);
  const key = keyOfJobId(taken.id ?? '');
  if (job === null) return { key, outcome: 'dropped', detail: 'unreadable' };
  const step = await run(job).catch((error: unknown): RefreshStep => {
    onDefect(error);
    return { outcome: 'failed', detail: 'defect' };
  });
  if (step.outcome !== 'later') return { key, ...step };
  await taken.updateData(step.job);
  await taken.changePriority({ priority: urgencyOf(step.job) });
  // Before it goes: whoever waits for it is told why, on whichever machine.
  const { detail, delayMs } = step;
  await taken.updateProgress({ detail, delayMs });
  await taken.moveToDelayed(clock.now() + delayMs, token);
  throw new DelayedError();
}
