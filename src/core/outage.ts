// What is known about something that fails: since the first failure it is asked only now and then,
// and only the first failure and the first success after it are told. Pure: time is passed in.

/** Told of the beginning and the end of an outage. */
export interface OutageListener {
  readonly onFailing: (reason: string) => void;
  readonly onRecovered: () => void;
}

export interface Outage {
  /** Why it should not be asked now; null: ask. */
  readonly reasonAt: (nowMs: number) => string | null;
  readonly fail: (nowMs: number, reason: string) => void;
  readonly succeed: () => void;
}

/** Makes the memory of one resource's outages; after a failure it rests for the back-off. */
export function createOutage(backOffMs: number, listener: OutageListener): Outage {
  let current: { readonly retryAt: number; readonly reason: string } | null = null;
  return {
    reasonAt: (nowMs) => (current !== null && nowMs < current.retryAt ? current.reason : null),
    fail: (nowMs, reason) => {
      if (current === null) listener.onFailing(reason);
      current = { retryAt: nowMs + backOffMs, reason };
    },
    succeed: () => {
      if (current !== null) listener.onRecovered();
      current = null;
    },
  };
}
