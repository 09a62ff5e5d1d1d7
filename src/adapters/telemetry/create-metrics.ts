// The gateway's metrics, on a registry of their own. What is recorded are words the pipeline
// already speaks; text of a client can't become a label, whatever is passed in.
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { BotJudgement } from '../../core/bots/crawlers.ts';
import type { RefreshReason } from '../../core/refresh/refresh-job.ts';
import type { FetchFailure, PageSource, RendererState } from '../../pipeline/ports.ts';
import type { RefreshCounts, RefreshStep } from '../../pipeline/refresh-ports.ts';
import type { HostUsage } from '../../pipeline/upkeep-ports.ts';
import { type Adder, createCounter, createHistogram } from './counters.ts';
import type { MetricsSnapshot } from './merge-snapshots.ts';
import { METRICS } from './metrics-table.ts';
import { watchRefreshQueue } from './watch-refresh-queue.ts';
import { watchRenderers } from './watch-renderers.ts';
import { type StoreUse, watchStores } from './watch-stores.ts';
import { watchUsage } from './watch-usage.ts';

/** What requests have in common that are counted alike. */
export interface RequestKind {
  /** null: no configured host. */
  readonly host: { readonly id: number; readonly domain: string } | null;
  /** Name of the dimension; null before one was chosen. */
  readonly dimension: string | null;
  /** Where the answer came from: `rendered`, `cache`, `bypass` … */
  readonly source: string;
  /** What the cache said: `hit`, `stale`, `miss` … */
  readonly cache: string;
  /** null: no crawler that is known. */
  readonly bot: BotJudgement | null;
  readonly strippedCount: number;
  /** Waited for what somebody else had asked for. */
  readonly isCollapsed: boolean;
}

export interface PageSample {
  readonly source: PageSource['name'];
  readonly result: 'page' | 'partial' | FetchFailure;
  readonly durationMs: number;
}

export interface StoreErrorSample {
  readonly store: 'entries' | 'bodies' | 'purge_log' | 'learned_rules';
  readonly operation:
    | 'read'
    | 'write'
    | 'replace'
    | 'extend'
    | 'delete'
    | 'claim'
    | 'list'
    | 'check';
  readonly state: 'unavailable' | 'damaged';
}

export interface RefreshSample {
  readonly reason: RefreshReason;
  /** How it ended; `full` and `unavailable`: it was not taken on. */
  readonly outcome: RefreshStep['outcome'] | 'full' | 'unavailable';
}

export interface Metrics {
  /** Counts requests of one kind, each with its milliseconds; to be kept for the next one. */
  readonly requestMeter: (kind: RequestKind) => Adder;
  readonly recordPage: (sample: PageSample) => void;
  /** Asked at each scrape. */
  readonly watchRenderers: (read: () => Promise<readonly RendererState[]>) => void;
  /** The own renderer ended: a ready one, or one that never was. */
  readonly recordRendererRestart: (reason: 'crashed' | 'not_ready') => void;
  readonly recordStoreError: (sample: StoreErrorSample) => void;
  readonly recordCollision: (hostId: number) => void;
  readonly recordUrlError: (kind: string) => void;
  readonly recordRefusal: (reason: string) => void;
  readonly recordRefresh: (sample: RefreshSample) => void;
  /** Asked at each scrape; null: the queue can't be asked. */
  readonly watchRefreshQueue: (read: () => Promise<RefreshCounts | null>) => void;
  readonly recordReload: (result: 'applied' | 'refused') => void;
  /** Of the process that reads it; the others leave both at 0, since all are summed. */
  readonly setConfig: (config: { readonly isCurrent: boolean; readonly readAt: number }) => void;
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
  const collapsed = createCounter(registry, METRICS.collapsed);
  const durations = createHistogram(registry, METRICS.durations);
  const pages = createCounter(registry, METRICS.pages);
  const pageDurations = createHistogram(registry, METRICS.pageDurations);
  const rendererRestarts = createCounter(registry, METRICS.rendererRestarts);
  const storeErrors = createCounter(registry, METRICS.storeErrors);
  const collisions = createCounter(registry, METRICS.collisions);
  const strippedPairs = createCounter(registry, METRICS.strippedPairs);
  const bots = createCounter(registry, METRICS.bots);
  const urlErrors = createCounter(registry, METRICS.urlErrors);
  const refusals = createCounter(registry, METRICS.refusals);
  const refreshes = createCounter(registry, METRICS.refreshes);
  const removed = createCounter(registry, METRICS.removed);
  const reloads = createCounter(registry, METRICS.reloads);
  const configSuccess = createGauge(registry, METRICS.configSuccess);
  const configTime = createGauge(registry, METRICS.configTime);
  const workers = createGauge(registry, METRICS.workers);
  const workerEnds = createCounter(registry, METRICS.workerEnds);
  return {
    requestMeter: ({ host, dimension, source, cache, bot, strippedCount, isCollapsed }) => {
      const [id, domain] = host === null ? [null, null] : [String(host.id), host.domain];
      const countRequest = requests({ host: id, domain, dimension, source, cache });
      const countCollapsed = isCollapsed ? collapsed({ source }) : null;
      const addDuration = durations({ source, cache });
      const isStripped = id !== null && strippedCount > 0;
      const countStripped = isStripped ? strippedPairs({ host: id }) : null;
      const countBot =
        bot === null
          ? null
          : bots({ owner: bot.owner, kind: bot.kind, verdict: bot.verdict, by: bot.by });
      return (durationMs) => {
        countRequest(1);
        countCollapsed?.(1);
        addDuration(durationMs / 1000);
        countStripped?.(strippedCount);
        countBot?.(1);
      };
    },
    recordPage: ({ source, result, durationMs }) => {
      pages({ source, result })(1);
      pageDurations({ source })(durationMs / 1000);
    },
    watchRenderers: (read) => watchRenderers(registry, read),
    recordRendererRestart: (reason) => rendererRestarts({ reason })(1),
    recordStoreError: ({ store, operation, state }) => storeErrors({ store, operation, state })(1),
    recordCollision: (hostId) => collisions({ host: String(hostId) })(1),
    recordUrlError: (kind) => urlErrors({ kind })(1),
    recordRefusal: (reason) => refusals({ reason })(1),
    recordRefresh: ({ reason, outcome }) => refreshes({ reason, outcome })(1),
    watchRefreshQueue: (read) => watchRefreshQueue(registry, read),
    recordReload: (result) => reloads({ result })(1),
    setConfig: ({ isCurrent, readAt }) => {
      configSuccess.set(isCurrent ? 1 : 0);
      configTime.set(readAt / 1000);
    },
    watchStores: (read) => watchStores(registry, read),
    watchUsage: (read) => watchUsage(registry, read),
    recordRemoved: (reason, count) => removed({ reason })(count),
    setWorkers: (count) => workers.set(count),
    recordWorkerEnd: (reason) => workerEnds({ reason })(1),
    snapshot: () => registry.getMetricsAsJSON(),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createGauge(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): Gauge {
  return new Gauge({ name, help, registers: [registry] });
}
