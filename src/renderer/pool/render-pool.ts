// Bounded tabs and a bounded queue on one browser that is replaced when it is due, hangs or dies.
// The replacement starts first and the old one finishes its pages; after a crash each page is tried
// once more on the new browser, and waiting pages wait for it unless none will start.
import type { Browser } from 'playwright-core';
import type { Launcher } from '../browser/create-launcher.ts';
import type { Log, PoolOptions, PoolSize } from '../options.ts';
import { BrowserLostError } from '../page/capture-page.ts';
import { BrowserKeeper } from './browser-keeper.ts';
import type { Generation, ReplaceReason } from './generation.ts';
import { createWorkQueue, type JobLimits, type WorkQueue } from './work-queue.ts';

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

interface Job {
  readonly limits: JobLimits;
  readonly run: (generation: Generation) => Promise<void>;
  readonly reject: (error: Error) => void;
  attempts: number;
}

const ATTEMPTS_MAX = 2;

/** Starts the first browser; throws when that is impossible. */
export async function createPool(
  launcher: Launcher,
  options: PoolOptions,
  log: Log,
): Promise<RenderPool> {
  const pool = new RenderPool(launcher, options, log);
  await pool.open();
  return pool;
}

export class RenderPool {
  readonly #queue: WorkQueue<Job>;
  readonly #keeper: BrowserKeeper;
  #size: PoolSize;
  #busy = 0;
  #isClosed = false;

  constructor(launcher: Launcher, options: PoolOptions, log: Log) {
    this.#size = options;
    this.#queue = createWorkQueue<Job>(() => this.#size.queueMax);
    this.#keeper = new BrowserKeeper(launcher, options, {
      log,
      onReady: () => this.#pump(),
      onStartFailed: () => this.#queue.rejectAll(new NoBrowserError()),
    });
  }

  async open(): Promise<void> {
    await this.#keeper.open();
  }

  /**
   * Runs work on a browser when a tab is free.
   *
   * Throws QueueFullError at once, WaitedInVainError, NoBrowserError, or BrowserLostError when two
   * browsers were lost over it.
   */
  async run<T>(work: (browser: Browser) => Promise<T>, limits: JobLimits): Promise<T> {
    if (this.#isClosed || this.#keeper.isFailing) throw new NoBrowserError();
    return await new Promise<T>((resolve, reject) => {
      const run = async (generation: Generation): Promise<void> => {
        try {
          resolve(await work(generation.launched.browser));
        } catch (error) {
          if (error instanceof BrowserLostError) throw error;
          reject(error);
        }
      };
      this.#queue.push({ limits, run, reject, attempts: 0 }, limits, reject);
      this.#pump();
    });
  }

  /** What runs beyond a smaller size ends in peace, and what waits beyond it waits on. */
  resize(size: PoolSize): void {
    this.#size = size;
    this.#pump();
  }

  /** Replaces the browser that runs now. */
  replace(reason: ReplaceReason): void {
    const generation = this.#keeper.current;
    if (generation !== null) this.#keeper.replace(generation, reason);
  }

  get state(): PoolState {
    const { current, replaced } = this.#keeper;
    return {
      tabs: this.#size.tabs,
      busy: this.#busy,
      queued: this.#queue.length(),
      isUp: current !== null,
      rssBytes: current?.launched.rssBytes() ?? 0,
      replaced,
    };
  }

  /** Process id of the browser that runs now, or null. */
  get browserPid(): number | null {
    return this.#keeper.current?.launched.pid ?? null;
  }

  /** Ends every browser; what waits or runs fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.rejectAll(new NoBrowserError());
    await this.#keeper.close();
  }

  #pump(): void {
    for (;;) {
      const generation = this.#keeper.current;
      if (generation === null || this.#busy >= this.#size.tabs) return;
      const job = this.#queue.shift();
      if (job === undefined) return;
      void this.#start(job, generation);
    }
  }

  async #start(job: Job, generation: Generation): Promise<void> {
    this.#busy += 1;
    job.attempts += 1;
    generation.begin();
    try {
      await job.run(generation);
    } catch {
      // The browser was lost, not the page: the page is worth another try.
      await this.#keeper.lose(generation);
      const mayTry = !this.#isClosed && job.attempts < ATTEMPTS_MAX;
      if (mayTry) this.#queue.pushFront(job, job.limits, job.reject);
      else job.reject(new BrowserLostError());
    } finally {
      this.#busy -= 1;
      generation.finish();
      const reason = generation.due();
      if (reason !== null) this.#keeper.replace(generation, reason);
      this.#pump();
    }
  }
}
