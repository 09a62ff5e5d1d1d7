// Jobs that wait for a tab: bounded, first come first served, each with its own end. A job leaves
// the queue by being taken, by its deadline, or because whoever asked for it left.

/** There is no room; ask again later. */
export class QueueFullError extends Error {}
/** The job's time was over, or its asker gone, before a tab was free. */
export class WaitedInVainError extends Error {}

export interface JobLimits {
  /** performance.now() at which the answer is too late. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal;
}

export interface WorkQueue<J> {
  /** Waits at the end; throws QueueFullError when there is no room. */
  readonly push: (job: J, limits: JobLimits, reject: (error: Error) => void) => void;
  /** Waits at the front, whatever the bound: it has waited before. */
  readonly pushFront: (job: J, limits: JobLimits, reject: (error: Error) => void) => void;
  readonly shift: () => J | undefined;
  readonly length: () => number;
  readonly rejectAll: (error: Error) => void;
}

interface Waiting<J> {
  readonly job: J;
  readonly leave: () => void;
  readonly reject: (error: Error) => void;
}

/** @param lengthMax jobs that may wait, as of now */
export function createWorkQueue<J>(lengthMax: () => number): WorkQueue<J> {
  const waiting: Waiting<J>[] = [];

  const enter = (
    job: J,
    { deadlineAt, signal }: JobLimits,
    reject: (error: Error) => void,
  ): Waiting<J> => {
    const giveUp = (): void => {
      const index = waiting.indexOf(entry);
      if (index !== -1) waiting.splice(index, 1);
      entry.leave();
      reject(new WaitedInVainError());
    };
    const timer = setTimeout(giveUp, Math.max(0, deadlineAt - performance.now()));
    signal.addEventListener('abort', giveUp, { once: true });
    const leave = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const entry: Waiting<J> = { job, leave, reject };
    return entry;
  };

  return {
    push: (job, limits, reject) => {
      if (waiting.length >= lengthMax()) throw new QueueFullError();
      waiting.push(enter(job, limits, reject));
    },
    pushFront: (job, limits, reject) => {
      waiting.unshift(enter(job, limits, reject));
    },
    shift: () => {
      const entry = waiting.shift();
      entry?.leave();
      return entry?.job;
    },
    length: () => waiting.length,
    rejectAll: (error) => {
      for (const entry of waiting.splice(0)) {
        entry.leave();
        entry.reject(error);
      }
    },
  };
}
