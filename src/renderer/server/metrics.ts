// What a render service tells Prometheus, written by hand: a dozen numbers need no library, and the
// service stays small enough to run beside a browser.
import type { RenderErrorCode, RenderOutcome } from '../../core/http/render-answer.ts';
import type { PoolState } from '../pool/render-pool.ts';

export interface Metrics {
  readonly rendered: (outcome: RenderOutcome, code: RenderErrorCode | null, ms: number) => void;
  readonly turnedAway: () => void;
  readonly refused: (connections: number) => void;
  /** Seconds since something was rendered; null before the first time. */
  readonly sinceSuccessSeconds: () => number | null;
  readonly write: (state: PoolState, isReady: boolean) => string;
}

const BUCKETS_MS = [100, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000];
const PREFIX = 'edge_gateway_renderer_';

/** Starts counting. */
export function createMetrics(): Metrics {
  const outcomes = new Map<string, number>();
  const failures = new Map<string, number>();
  const buckets = BUCKETS_MS.map(() => 0);
  let [count, sumMs, fullCount, refusals] = [0, 0, 0, 0];
  let succeededAt: number | null = null;

  const sinceSuccessSeconds = (): number | null =>
    succeededAt === null ? null : (performance.now() - succeededAt) / 1_000;
  return {
    rendered: (outcome, code, ms) => {
      increase(outcomes, outcome);
      if (code !== null) increase(failures, code);
      if (outcome !== 'failed') succeededAt = performance.now();
      count += 1;
      sumMs += ms;
      for (const [index, limit] of BUCKETS_MS.entries()) {
        if (ms <= limit) buckets[index] = (buckets[index] ?? 0) + 1;
      }
    },
    turnedAway: () => {
      fullCount += 1;
    },
    refused: (connections) => {
      refusals += connections;
    },
    sinceSuccessSeconds,
    write: (state, isReady) => {
      const since = sinceSuccessSeconds();
      const seconds = (ms: number): string => String(ms / 1_000);
      return [
        family('renders_total', 'counter', labelled('outcome', outcomes)),
        family('render_failures_total', 'counter', labelled('code', failures)),
        family('render_duration_seconds', 'histogram', [
          ...BUCKETS_MS.map(
            (ms, index): Sample => [`_bucket{le="${seconds(ms)}"}`, buckets[index] ?? 0],
          ),
          ['_bucket{le="+Inf"}', count],
          ['_sum', sumMs / 1_000],
          ['_count', count],
        ]),
        family('queue_full_total', 'counter', [['', fullCount]]),
        family('refused_connections_total', 'counter', [['', refusals]]),
        family('tabs', 'gauge', [['', state.tabs]]),
        family('tabs_busy', 'gauge', [['', state.busy]]),
        family('queue_length', 'gauge', [['', state.queued]]),
        family('browser_up', 'gauge', [['', state.isUp ? 1 : 0]]),
        family('browser_rss_bytes', 'gauge', [['', state.rssBytes]]),
        family(
          'browser_replaced_total',
          'counter',
          labelled('reason', new Map(Object.entries(state.replaced))),
        ),
        family('ready', 'gauge', [['', isReady ? 1 : 0]]),
        family('last_success_age_seconds', 'gauge', since === null ? [] : [['', since]]),
      ].join('');
    },
  };
}

type Sample = readonly [suffix: string, value: number];

function family(name: string, type: string, samples: readonly Sample[]): string {
  const lines = samples.map(([suffix, value]) => `${PREFIX}${name}${suffix} ${value}\n`);
  return `# TYPE ${PREFIX}${name} ${type}\n${lines.join('')}`;
}

function labelled(label: string, values: ReadonlyMap<string, number>): readonly Sample[] {
  return [...values].map(([value, count]) => [`{${label}="${value}"}`, count] as const);
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
