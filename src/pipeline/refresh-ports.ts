// The queue of pages that are got behind everyone's back. As in ports.ts, what may fail in
// operation is a value.
import type { RefreshJob } from '../core/refresh/refresh-job.ts';
import type { RefreshResult } from '../core/refresh/refresh-result.ts';
import type { CacheKey, Done } from './ports.ts';

export type { RefreshResult } from '../core/refresh/refresh-result.ts';

export type RefreshStep =
  | RefreshResult
  /** Not now: it goes back into the queue as it is here. */
  | {
      readonly outcome: 'later';
      readonly detail: string | null;
      readonly job: RefreshJob;
      readonly delayMs: number;
    };

export interface FinishedRefresh extends RefreshResult {
  readonly key: CacheKey;
}

export interface PutOffRefresh {
  readonly key: CacheKey;
  readonly detail: string | null;
  readonly delayMs: number;
}

export interface RefreshCounts {
  /** Ready to be taken. */
  readonly waiting: number;
  /** Put off. */
  readonly delayed: number;
  readonly running: number;
}

/**
 * Pages to be got behind everyone's back: the most urgent first, each page once. A page that is
 * asked for again while it waits is one job (`mergeJobs`); while it is being got, one more.
 */
export interface RefreshQueue {
  readonly name: 'process' | 'bullmq';
  /**
   * Never waits longer than for a store. `merged`: it was waiting already. `full`: not taken on,
   * see `placesFor`.
   */
  readonly add: (job: RefreshJob) => Promise<Done<'added' | 'merged' | 'full'>>;
  /**
   * Hands out jobs until the queue is closed; what `run` throws is a defect.
   *
   * @param concurrency how many at a time; asked again for each job
   */
  readonly work: (
    run: (job: RefreshJob) => Promise<RefreshStep>,
    concurrency: () => number,
  ) => void;
  /** Tells of every job that ends, on whichever machine; answers how to stop that. */
  readonly onFinished: (listener: (finished: FinishedRefresh) => void) => () => void;
  /** Tells likewise of every job that goes back into the queue for a while. */
  readonly onPutOff: (listener: (putOff: PutOffRefresh) => void) => () => void;
  readonly count: () => Promise<Done<RefreshCounts>>;
  /** Hands out no more, and waits a while for those that run. */
  readonly close: () => Promise<void>;
}
