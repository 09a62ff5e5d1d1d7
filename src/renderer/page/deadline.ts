// Waits that end: for a value, for a time, or for whichever comes first.

/** The wait was over before the value came. */
export class OverdueError extends Error {}

/** The value, or OverdueError after `timeoutMs`. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new OverdueError()), Math.max(0, timeoutMs));
  });
  // Whoever loses the race has nobody left to fail to.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/** A value that is given once, by whoever comes first. */
export interface Once<T> {
  readonly give: (value: T) => void;
  readonly value: () => T | null;
  readonly promise: Promise<T>;
}

export function createOnce<T>(): Once<T> {
  let value: T | null = null;
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return {
    give: (given) => {
      value ??= given;
      settle(given);
    },
    value: () => value,
    promise,
  };
}
