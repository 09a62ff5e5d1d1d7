// Does something every so often, but only while somebody has lately had a use for it.

export interface Wakefulness {
  /** Somebody has a use for it: it is done at once when it was asleep. */
  readonly wake: () => void;
  readonly close: () => void;
}

export interface WakefulnessOptions {
  readonly everyMs: number;
  /** How long one use keeps it awake. */
  readonly awakeMs: number;
  readonly monotonicNow: () => number;
  readonly act: () => void;
}

/** Makes it, asleep. */
export function createWakefulness(options: WakefulnessOptions): Wakefulness {
  const { everyMs, awakeMs, monotonicNow, act } = options;
  let timer: NodeJS.Timeout | null = null;
  let wantedAt = Number.NEGATIVE_INFINITY;

  function close(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    wake: () => {
      wantedAt = monotonicNow();
      if (timer !== null) return;
      timer = setInterval(() => {
        if (monotonicNow() - wantedAt > awakeMs) close();
        else act();
      }, everyMs).unref();
      act();
    },
    close,
  };
}
