// How long to wait before what ended is started again: longer each time, until it has been well for
// a while.

export interface Pauses {
  readonly next: () => number;
}

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;
const WELL_MS = 60_000;

export function createPauses(): Pauses {
  let pauseMs = PAUSE_MS_MIN;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  return {
    next: () => {
      const nowMs = performance.now();
      pauseMs = nowMs - lastAtMs > WELL_MS ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, pauseMs * 2);
      lastAtMs = nowMs;
      return pauseMs;
    },
  };
}
