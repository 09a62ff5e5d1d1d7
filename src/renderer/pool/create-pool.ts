// Bounded tabs and a bounded queue on one browser that is replaced when it is due, hangs or dies. The
// replacement starts first and the old one finishes its pages; after a crash each page is tried once
// more on the new browser, and waiting pages wait for it unless none will start.
import type { Browser } from 'playwright-core';
import type { Launcher } from '../browser/create-launcher.ts';
import type { Log, PoolOptions } from '../options.ts';
import { BrowserLostError } from '../page/capture-page.ts';
import { createKeeper, type Keeper } from './browser-keeper.ts';
import type { Generation, ReplaceReason } from './generation.ts';
import { createWorkQueue, type JobLimits } from './work-queue.ts';

/** No browser runs and none could be started. */
export class NoBrowserError extends Error {}

export interface PoolState {
  readonly tabs: number;
  readonly busy: number;
  readonly queued: number;
  readonly isUp: boolean;
  readonly rssBytes: number;
  readonly replaced: Readonly<Record<ReplaceReason, number>>;
}

export interface RenderPool {
  /**
   * Runs work on a browser when a tab is free.
   *
   * Throws QueueFullError at once, WaitedInVainError, NoBrowserError, or BrowserLostError when two
   * browsers were lost over it.
   */
  readonly run: <T>(work: (browser: Browser) => Promise<T>, limits: JobLimits) => Promise<T>;
  /** Replaces the browser that runs now. */
  readonly replace: (reason: ReplaceReason) => void;
  readonly state: () => PoolState;
  /** Process id of the browser that runs now, or null. */
  readonly browserPid: () => number | null;
  /** Ends every browser; what waits or runs fails. */
  readonly close: () => Promise<void>;
}

interface Job {
  readonly limits: JobLimits;
  readonly run: (generation: Generation) => Promise<void>;
  readonly reject: (error: Error) => void;
  attempts: number;
}

const ATTEMPTS_MAX = 2;

/** Starts the first browser; fails when that is impossible. */
export async function createPool(
  launcher: Launcher,
  options: PoolOptions,
  log: Log,
): Promise<RenderPool> {
  const queue = createWorkQueue<Job>(options.queueMax);
  let busy = 0;
  let isClosed = false;
  const keeper: Keeper = await createKeeper(launcher, options, {
    log,
    onReady: () => pump(),
    onStartFailed: () => queue.rejectAll(new NoBrowserError()),
  });

  const pump = (): void => {
    for (;;) {
      const generation = keeper.current();
      if (generation === null || busy >= options.tabs) return;
      const job = queue.shift();
      if (job === undefined) return;
      void start(job, generation);
    }
  };
  const start = async (job: Job, generation: Generation): Promise<void> => {
    busy += 1;
    job.attempts += 1;
    generation.begin();
    try {
      await job.run(generation);
    } catch (error) {
      await keeper.lost(generation);
      if (!isClosed && job.attempts < ATTEMPTS_MAX) {
        queue.pushFront(job, job.limits, job.reject);
      } else job.reject(error instanceof Error ? error : new BrowserLostError());
    } finally {
      busy -= 1;
      generation.finish();
      const reason = generation.due();
      if (reason !== null) keeper.replace(generation, reason);
      pump();
    }
  };

  return {
    run: (work, limits) =>
      new Promise((resolve, reject) => {
        const run = async (generation: Generation): Promise<void> => {
          try {
            resolve(await work(generation.launched.browser));
          } catch (error) {
            if (error instanceof BrowserLostError) throw error;
            reject(error);
          }
        };
        if (isClosed || keeper.isFailing()) return reject(new NoBrowserError());
        try {
          queue.push({ limits, run, reject, attempts: 0 }, limits, reject);
        } catch (error) {
          return reject(error);
        }
        pump();
      }),
    replace: (reason) => {
      const generation = keeper.current();
      if (generation !== null) keeper.replace(generation, reason);
    },
    state: () => ({
      tabs: options.tabs,
      busy,
      queued: queue.length(),
      isUp: keeper.current() !== null,
      rssBytes: keeper.current()?.launched.rssBytes() ?? 0,
      replaced: keeper.replaced(),
    }),
    browserPid: () => keeper.current()?.launched.pid ?? null,
    close: async () => {
      isClosed = true;
      queue.rejectAll(new NoBrowserError());
      await keeper.close();
    },
  };
}
