// How far a warming is: one line that is written over on a terminal, now and then a line elsewhere;
// also while nothing ends, as when a site hangs.
import type { Writable } from 'node:stream';
import { formatCounts, formatNumber, type WarmTally } from './warm-tally.ts';

const TERMINAL_PAUSE_MS = 200;
const LINE_PAUSE_MS = 10_000;
/** Then a rate says nothing about how long it will last. */
const QUIET_MS_MIN = 10_000;
const BAR_WIDTH = 20;

export interface Progress {
  /** Shown again where it is time to. */
  readonly show: () => void;
  /** Room for another line. */
  readonly clear: () => void;
  /** Shows nothing any more. */
  readonly close: () => void;
}

export function createProgress(
  output: Writable,
  tally: WarmTally,
  total: number,
  startedAt: number,
): Progress {
  const isTerminal = 'isTTY' in output && output.isTTY === true;
  const pauseMs = isTerminal ? TERMINAL_PAUSE_MS : LINE_PAUSE_MS;
  let shownAt = startedAt;
  let isShown = false;
  let last = { finished: tally.finished, at: performance.now() };

  function show(): void {
    const now = performance.now();
    if (tally.finished !== last.finished) last = { finished: tally.finished, at: now };
    if (now - shownAt < pauseMs) return;
    shownAt = now;
    isShown = true;
    const line = formatProgress(tally, total, {
      elapsedMs: now - startedAt,
      quietMs: now - last.at,
    });
    output.write(isTerminal ? `\r${formatBar(tally.done / total)} ${line}\u001b[K` : `${line}\n`);
  }

  function clear(): void {
    if (isTerminal && isShown) output.write('\r\u001b[K');
  }

  const timer = setInterval(show, pauseMs).unref();
  return {
    show,
    clear,
    close: () => {
      clearInterval(timer);
      clear();
    },
  };
}

interface Times {
  readonly elapsedMs: number;
  /** Since anything ended. */
  readonly quietMs: number;
}

/** `120 of 1000 URLs, 35.1/s, 25s left, 120 pages: 80 fresh, 40 rendered; 2 to be tried again` */
export function formatProgress(
  tally: WarmTally,
  total: number,
  { elapsedMs, quietMs }: Times,
): string {
  const { done, finished, counts, putOffCount } = tally;
  const rate = finished / Math.max(elapsedMs / 1_000, 0.001);
  const known = rate === 0 ? '' : `, ${formatSeconds((total - done) / rate)} left`;
  const left =
    quietMs < QUIET_MS_MIN ? known : `, nothing new for ${formatSeconds(quietMs / 1_000)}`;
  const later = putOffCount === 0 ? '' : `; ${putOffCount} to be tried again`;
  const urls = `${done} of ${formatNumber(total, 'URL')}`;
  return `${urls}, ${rate.toFixed(1)}/s${left}, ${formatCounts(counts)}${later}`;
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}m ${whole % 60}s`
    : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

function formatBar(share: number): string {
  const full = Math.min(BAR_WIDTH, Math.floor(share * BAR_WIDTH));
  return `[${'#'.repeat(full)}${' '.repeat(BAR_WIDTH - full)}]`;
}
