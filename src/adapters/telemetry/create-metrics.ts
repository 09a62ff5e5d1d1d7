// The gateway's metrics, on a registry of their own. What is recorded are words the pipeline
// already speaks; text of a client can't become a label, whatever is passed in.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { BotJudgement } from '../../core/bots/crawlers.ts';
import type { RefreshReason } from '../../core/refresh/refresh-job.ts';
import type { FetchFailure, PageSource, RefreshCounts, RefreshStep } from '../../pipeline/ports.ts';
import type { HostUsage } from '../../pipeline/upkeep-ports.ts';
import { createLabelBound } from './bound-label.ts';
import type { MetricsSnapshot } from './merge-snapshots.ts';
import { METRICS } from './metrics-table.ts';
import { watchRefreshQueue } from './watch-refresh-queue.ts';
import { type StoreUse, watchStores } from './watch-stores.ts';
import { watchUsage } from './watch-usage.ts';

export interface RequestSample {
  /** null: no configured host. */
  readonly host: { readonly id: number; readonly domain: string } | null;
  /** Name of the dimension; null before one was chosen. */
  readonly dimension: string | null;
  /** Where the answer came from: `rendered`, `cache`, `bypass` … */
  readonly source: string;
  /** What the cache said: `hit`, `stale`, `miss` … */
  readonly cache: string;
  readonly durationMs: number;
}

export interface PageSample {
  readonly source: PageSource['name'];
  readonly result: 'page' | 'partial' | FetchFailure;
  readonly durationMs: number;
}

export interface StoreErrorSample {
  readonly store: string;
  readonly operation: 'get' | 'put' | 'read' | 'write' | 'delete' | 'keys' | 'check';
  readonly state: 'unavailable' | 'damaged';
}

export interface RefreshSample {
  readonly reason: RefreshReason;
  /** How it ended; `full` and `unavailable`: it was not taken on. */
  readonly outcome: RefreshStep['outcome'] | 'full' | 'unavailable';
}

export interface Metrics {
  readonly recordRequest: (sample: RequestSample) => void;
  readonly recordPage: (sample: PageSample) => void;
  readonly recordStoreError: (sample: StoreErrorSample) => void;
  readonly recordCollision: (hostId: number) => void;
  readonly recordStrippedPairs: (hostId: number, count: number) => void;
  readonly recordBot: (bot: BotJudgement) => void;
  readonly recordUrlError: (kind: string) => void;
  readonly recordRefusal: (reason: string) => void;
  readonly recordRefresh: (sample: RefreshSample) => void;
  /** Asked at each scrape; null: the queue can't be asked. */
  readonly watchRefreshQueue: (read: () => Promise<RefreshCounts | null>) => void;
  readonly recordReload: (result: 'applied' | 'refused') => void;
  /** Asked at each scrape. */
  readonly watchStores: (read: () => StoreUse) => void;
  /** Asked at each scrape; null: the store can't be asked. */
  readonly watchUsage: (read: () => Promise<readonly HostUsage[] | null>) => void;
  readonly recordRemoved: (reason: string, count: number) => void;
  /** How many processes serve. */
  readonly setWorkers: (count: number) => void;
  readonly recordWorkerEnd: (reason: 'crashed' | 'replaced') => void;
  /** All of it as data, to be summed with that of other processes. */
  readonly snapshot: () => Promise<MetricsSnapshot>;
  /** The text a scraper gets, and its media type. */
  readonly render: () => Promise<string>;
  readonly contentType: string;
}

/** Creates the metrics of this process, event-loop lag and memory among them. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = createCounter(registry, METRICS.requests);
  const durations = createHistogram(registry, METRICS.durations);
  const pages = createCounter(registry, METRICS.pages);
  const pageDurations = createHistogram(registry, METRICS.pageDurations);
  const storeErrors = createCounter(registry, METRICS.storeErrors);
  const collisions = createCounter(registry, METRICS.collisions);
  const strippedPairs = createCounter(registry, METRICS.strippedPairs);
  const bots = createCounter(registry, METRICS.bots);
  const urlErrors = createCounter(registry, METRICS.urlErrors);
  const refusals = createCounter(registry, METRICS.refusals);
  const refreshes = createCounter(registry, METRICS.refreshes);
  const removed = createCounter(registry, METRICS.removed);
  const reloads = createCounter(registry, METRICS.reloads);
  const workers = new Gauge({
    name: METRICS.workers.name,
    help: METRICS.workers.help,
    registers: [registry],
  });
  const workerEnds = createCounter(registry, METRICS.workerEnds);
  return {
    recordRequest: ({ host, dimension, source, cache, durationMs }) => {
      const [id, domain] = host === null ? [null, null] : [String(host.id), host.domain];
      requests({ host: id, domain, dimension, source, cache }, 1);
      durations({ source, cache }, durationMs / 1000);
    },
    recordPage: ({ source, result, durationMs }) => {
      pages({ source, result }, 1);
      pageDurations({ source }, durationMs / 1000);
    },
    recordStoreError: ({ store, operation, state }) => storeErrors({ store, operation, state }, 1),
    recordCollision: (hostId) => collisions({ host: String(hostId) }, 1),
    recordStrippedPairs: (hostId, count) => strippedPairs({ host: String(hostId) }, count),
    recordBot: ({ owner, kind, verdict, by }) => bots({ owner, kind, verdict, by }, 1),
    recordUrlError: (kind) => urlErrors({ kind }, 1),
    recordRefusal: (reason) => refusals({ reason }, 1),
    recordRefresh: ({ reason, outcome }) => refreshes({ reason, outcome }, 1),
    watchRefreshQueue: (read) => watchRefreshQueue(registry, read),
    recordReload: (result) => reloads({ result }, 1),
    watchStores: (read) => watchStores(registry, read),
    watchUsage: (read) => watchUsage(registry, read),
    recordRemoved: (reason, count) => removed({ reason }, count),
    setWorkers: (count) => workers.set(count),
    recordWorkerEnd: (reason) => workerEnds({ reason }, 1),
    snapshot: () => registry.getMetricsAsJSON(),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

interface Row<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<L, number>>;
  readonly buckets?: readonly number[];
}

type Labels<L extends string> = Readonly<Record<L, string | null>>;
type Recorder<L extends string> = (labels: Labels<L>, amount: number) => void;

function createCounter<L extends string>(registry: Registry, row: Row<L>): Recorder<L> {
  const { name, help } = row;
  const counter = new Counter({
    name,
    help,
    labelNames: Object.keys(row.labels),
    registers: [registry],
  });
  const bound = createBounds(row.labels);
  return (labels, amount) => counter.inc(bound(labels), amount);
}

function createHistogram<L extends string>(registry: Registry, row: Row<L>): Recorder<L> {
  const { name, help, buckets = [] } = row;
  const labelNames = Object.keys(row.labels);
  const histogram = new Histogram({
    name,
    help,
    labelNames,
    buckets: [...buckets],
    registers: [registry],
  });
  const bound = createBounds(row.labels);
  return (labels, amount) => histogram.observe(bound(labels), amount);
}

function createBounds<L extends string>(
  labelsMax: Readonly<Record<L, number>>,
): (labels: Labels<L>) => Record<string, string> {
  const bounds = Object.entries<number>(labelsMax).map(
    ([label, valuesMax]) => [label, createLabelBound(valuesMax)] as const,
  );
  return (labels) => {
    const values = new Map(Object.entries<string | null>(labels));
    return Object.fromEntries(
      bounds.map(([label, bound]) => [label, bound(values.get(label) ?? null)]),
    );
  };
}
