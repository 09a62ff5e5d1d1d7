// How far a warming is: one line that is written over on a terminal, now and then a line elsewhere.
import type { Writable } from 'node:stream';
import { formatCounts, type WarmTally } from './warm-tally.ts';

const TERMINAL_PAUSE_MS = 200;
const LINE_PAUSE_MS = 10_000;
const BAR_WIDTH = 20;

export interface Progress {
  readonly show: () => void;
  /** Room for another line. */
  readonly clear: () => void;
}

export function createProgress(
  output: Writable,
  tally: WarmTally,
  total: number,
  startedAt: number,
): Progress {
  const isTerminal = 'isTTY' in output && output.isTTY === true;
  let shownAt = startedAt;
  let isShown = false;
  return {
    show: () => {
      const now = performance.now();
      if (now - shownAt < (isTerminal ? TERMINAL_PAUSE_MS : LINE_PAUSE_MS)) return;
      shownAt = now;
      isShown = true;
      const line = formatProgress(tally, total, now - startedAt);
      output.write(
        isTerminal ? `\r${formatBar(tally.doneTo / total)} ${line}\u001b[K` : `${line}\n`,
      );
    },
    clear: () => {
      if (isTerminal && isShown) output.write('\r\u001b[K');
    },
  };
}

/** `120 of 1000, 35.1/s, 25s left: 80 fresh, 40 rendered` */
function formatProgress(
  { doneTo, finished, counts }: WarmTally,
  total: number,
  elapsedMs: number,
): string {
  const rate = finished / Math.max(elapsedMs / 1_000, 0.001);
  const left = rate === 0 ? '' : `, ${formatSeconds((total - doneTo) / rate)} left`;
  return `${doneTo} of ${total}, ${rate.toFixed(1)}/s${left}: ${formatCounts(counts)}`;
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
