// The figures of the bench and their table. Single rounds on a shared machine vary; the ratio of
// two rounds that ran one after the other varies least, so ratios are taken by round.

/** What one contender did in one round. */
export interface Round {
  readonly wallSeconds: number;
  /** User and system time of all its processes. */
  readonly cpuSeconds: number;
  /** Of the pages that were right. */
  readonly latenciesMs: readonly number[];
  /** Paths of the pages that were not. */
  readonly wrong: readonly string[];
  readonly peakBytes: number;
}

export interface Results {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** The smallest number that at least `part` of the numbers do not exceed; NaN of none. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return (percentile(numbers, 0.5) + -percentile(negate(numbers), 0.5)) / 2;
}

function negate(numbers: readonly number[]): number[] {
  return numbers.map((number) => -number);
}

function pagesPerMinute({ latenciesMs, wallSeconds }: Round): number {
  return (latenciesMs.length * 60) / wallSeconds;
}

/** Pages for every minute of processor time: what one busy core gives. */
function pagesPerMinutePerCore({ latenciesMs, cpuSeconds }: Round): number {
  return (latenciesMs.length * 60) / cpuSeconds;
}

/** `min – median – max`, round by round. */
export function describeRatios(
  left: Results,
  right: Results,
  measure: (round: Round) => number,
): string {
  const ratios = left.rounds.flatMap((round, index) => {
    const other = right.rounds[index];
    return other === undefined ? [] : [measure(round) / measure(other)];
  });
  const words = [percentile(ratios, 0), median(ratios), percentile(ratios, 1)];
  // Nothing has a ratio to nothing.
  if (!words.every(Number.isFinite)) return '';
  return words.map((ratio) => ratio.toFixed(2)).join(' – ');
}

interface Row {
  readonly label: string;
  readonly measure: (round: Round) => number;
}

const ROWS: readonly Row[] = [
  { label: 'pages a minute a core', measure: pagesPerMinutePerCore },
  { label: 'pages a minute', measure: pagesPerMinute },
  { label: 'latency p50, ms', measure: ({ latenciesMs }) => percentile(latenciesMs, 0.5) },
  { label: 'latency p95, ms', measure: ({ latenciesMs }) => percentile(latenciesMs, 0.95) },
  { label: 'peak memory, MiB', measure: ({ peakBytes }) => peakBytes / 1_048_576 },
  { label: 'wrong pages', measure: ({ wrong }) => wrong.length },
];

/** A Markdown table: medians over the rounds, and the ratio of the first to the second. */
export function formatTable(left: Results, right: Results): string {
  const head = [`median of ${left.rounds.length} rounds`, left.name, right.name];
  const lines = ROWS.map(({ label, measure }) => {
    const medians = [left, right].map(({ rounds }) => median(rounds.map(measure)).toFixed(0));
    return [label, ...medians, describeRatios(left, right, measure)];
  });
  const table = [[...head, 'ratio: min – median – max'], ['---', '--:', '--:', '--:'], ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
