// `500ms`, `30s`, `1h30m`, `7d`, `2w`, `0`; a sum of parts, fractions allowed as in `1.5h`. A bare
// number is refused, because nobody can tell seconds from milliseconds.
import { err, ok, type Result } from '../../core/result.ts';
import type { Fault } from '../config-node.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/y;
/** Ten years: longer is a mistake, and far below where sums lose precision. */
const DURATION_MS_MAX = 3_650 * 86_400_000;

const EXAMPLES = 'write a number and a unit: 500ms, 30s, 1h30m, 7d, 2w, or 0';

/** Parses a duration into whole milliseconds. */
export function parseDuration(value: unknown): Result<number, Fault> {
  if (value === 0) return ok(0);
  if (typeof value === 'number') {
    return err({ message: `${value} is no duration`, hint: `write the unit: "${value}s"` });
  }
  if (typeof value !== 'string') return err({ message: 'not a duration', hint: EXAMPLES });
  const text = value.trim();
  if (text === '0') return ok(0);
  if (text.startsWith('-')) return err({ message: 'a duration is never negative', hint: EXAMPLES });
  const sum = sumParts(text);
  if (sum === null) return err({ message: 'not a duration', hint: hintFor(text) });
  if (sum > DURATION_MS_MAX)
    return err({ message: 'a duration of more than 10 years', hint: null });
  if (sum > 0 && sum < 1) return err({ message: 'a duration below 1ms', hint: EXAMPLES });
  return ok(Math.round(sum));
}

function sumParts(text: string): number | null {
  if (text === '') return null;
  let sum = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    if (match === null) return null;
    sum += Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN);
  }
  return sum;
}

function hintFor(text: string): string {
  if (/^\d+(?:\.\d+)?$/.test(text)) return `write the unit: "${text}s"`;
  const tight = text.replaceAll(/\s/g, '').toLowerCase();
  return sumParts(tight) === null ? EXAMPLES : `write "${tight}"`;
}

/** A duration as a user would write it, for messages. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0';
  for (const unit of ['w', 'd', 'h', 'm', 's']) {
    const size = UNIT_MS[unit] ?? 1;
    if (durationMs % size === 0) return `${durationMs / size}${unit}`;
  }
  return `${durationMs}ms`;
}
