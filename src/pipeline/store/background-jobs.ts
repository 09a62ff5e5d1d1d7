// Work that no request waits for: a few jobs at a time, in the order they came. Whoever brings more
// than may lie about waits until their own is done, so that nothing is left out and memory has a
// bound.

export interface BackgroundJobs {
  /**
   * Resolves at once, or when the job is done while there is too much to do.
   *
   * @param bytes that are kept in memory until it has run
   * @param run answers for its own failures and never rejects
   */
  readonly add: (bytes: number, run: () => Promise<void>) => Promise<void>;
  /** Resolves when there is nothing left to do, for an orderly stop. */
  readonly drain: () => Promise<void>;
}

export interface BackgroundLimits {
  readonly jobsAtOnce: number;
  readonly bytesMax: number;
}

interface Job {
  readonly bytes: number;
  readonly run: () => Promise<void>;
  readonly done: () => void;
}

export function createBackgroundJobs({ jobsAtOnce, bytesMax }: BackgroundLimits): BackgroundJobs {
  const waiting: Job[] = [];
  const unfinished = new Set<Promise<void>>();
  let running = 0;
  let bytesHeld = 0;

  function startSome(): void {
    while (running < jobsAtOnce) {
      const job = waiting.shift();
      if (job === undefined) return;
      running += 1;
      void job.run().finally(() => {
        running -= 1;
        bytesHeld -= job.bytes;
        job.done();
        startSome();
      });
    }
  }

  return {
    add: async (bytes, run) => {
      const finished = new Promise<void>((done) => {
        waiting.push({ bytes, run, done });
      });
      unfinished.add(finished);
      void finished.then(() => unfinished.delete(finished));
      bytesHeld += bytes;
      const isTooMuch = bytesHeld > bytesMax;
      startSome();
      if (isTooMuch) await finished;
    },
    drain: async () => {
      while (unfinished.size > 0) await Promise.all(unfinished);
    },
  };
}
