// What happened, told to the log and to the metrics in the same words.
import type { Log, LogFields } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';
import { parseCacheKey } from '../core/key/cache-key.ts';
import type { PageSource } from '../pipeline/ports.ts';
import type { RequestRecord } from '../pipeline/state.ts';
import type { PageStoreEvent } from '../pipeline/store/page-store-deps.ts';
import type { BypassOutcome } from '../server/bypass/ports.ts';
import type { FinishedRequest } from '../server/gateway/visit.ts';
import type { StoreListener } from './open-stores.ts';

/** What requests have in common whose record is the same. */
interface Seen {
  /** Members of the log line, as JSON. */
  readonly members: string;
  readonly count: (durationMs: number) => void;
}

/** One log line and the counters of each finished request. */
export function createRequestObserver(
  log: Log,
  metrics: Metrics,
): (finished: FinishedRequest) => void {
  // Hits on one page share their record for as long as it is right.
  const seen = new WeakMap<RequestRecord, Seen>();
  const nowhere = seeNothing(metrics);
  const see = (record: RequestRecord): Seen => {
    const known = seen.get(record);
    if (known !== undefined) return known;
    const made = { members: formatMembers(recordFields(record)), count: meterOf(record, metrics) };
    seen.set(record, made);
    return made;
  };
  return (finished) => {
    const { record } = finished;
    const { members, count } = record === null ? nowhere : see(record);
    log.infoOften('request', () => formatLine(finished, members));
    count(finished.durationMs);
    if (record?.reason === 'invalid_url' && record.detail !== null) {
      metrics.recordUrlError(record.detail);
    }
  };
}

function formatLine(finished: FinishedRequest, recordMembers: string): string {
  const { requestId, clientAddress, method, status, durationMs, userAgent, bypass } = finished;
  const before = `"request_id":"${requestId}","client":${jsonOf(clientAddress)}`;
  const verdict = `"method":${jsonOf(method)},"status":${status}${recordMembers}`;
  const duration = `"duration_ms":${Math.round(durationMs * 100) / 100}`;
  const agent = `"user_agent":${jsonOf(userAgent)}`;
  const aborted = finished.isAborted ? ',"aborted":true' : '';
  const origin = bypass === null ? '' : formatBypass(bypass);
  return `${before},${verdict},${duration},${agent}${aborted}${origin}`;
}

/** A crawler comes with the same address and User-Agent many times in a row. */
const recentTexts = new Map<string, string>();
const RECENT_TEXTS_MAX = 256;

function jsonOf(text: string): string {
  const known = recentTexts.get(text);
  if (known !== undefined) return known;
  const json = JSON.stringify(text);
  if (recentTexts.size >= RECENT_TEXTS_MAX) recentTexts.clear();
  recentTexts.set(text, json);
  return json;
}

/** Each with a comma before it. */
function formatMembers(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');
}

/** The pipeline's own words; nothing for a request that never reached it. */
function recordFields(record: RequestRecord): LogFields {
  return {
    host: record.host?.domain ?? null,
    url: record.url,
    action: record.action,
    reason: record.reason,
    source: record.source,
    cache: record.cache,
    dimension: record.dimension,
    rule: record.rule,
    key: record.key,
    detail: record.detail,
    ...(record.bot === null ? {} : { bot: record.bot }),
    stripped: record.strippedCount,
    ...(record.isCollapsed ? { collapsed: true } : {}),
    ...(record.originUrl === null ? {} : { origin: record.originUrl }),
    ...(record.failure && {
      origin_error: record.failure.error,
      origin_detail: record.failure.detail,
    }),
  };
}

function formatBypass({ originUrl, error, detail }: BypassOutcome): string {
  const origin = `,"origin":${jsonOf(originUrl)}`;
  if (error === null) return origin;
  return `${origin},"origin_error":"${error}","origin_detail":${JSON.stringify(detail)}`;
}

function meterOf(record: RequestRecord, metrics: Metrics): Seen['count'] {
  const { host, dimension, source, cache, bot, strippedCount, isCollapsed } = record;
  return metrics.requestMeter({ host, dimension, source, cache, bot, strippedCount, isCollapsed });
}

function seeNothing(metrics: Metrics): Seen {
  const kind = { host: null, dimension: null, source: 'none', cache: 'none', bot: null };
  let count: Seen['count'] | null = null;
  return {
    members: '',
    count: (durationMs) => {
      // Not before there is one: a scraper would be told of it.
      count ??= metrics.requestMeter({ ...kind, strippedCount: 0, isCollapsed: false });
      count(durationMs);
    },
  };
}

/**
 * Every page a source gives, counted by outcome; logged when it is none, or is not ready. A failure
 * is logged as the `detail` that headers and request lines have, with its inner `cause`.
 */
export function watchSource(source: PageSource, log: Log, metrics: Metrics): PageSource {
  return {
    ...source,
    get: async (job, signal) => {
      const startedAt = performance.now();
      const result = await source.get(job, signal);
      const durationMs = performance.now() - startedAt;
      if (result.outcome === 'failed') {
        metrics.recordPage({ source: source.name, result: result.reason, durationMs });
        log.warn('page failed', {
          request_id: job.requestId,
          url: job.url,
          source: source.name,
          detail: result.reason,
          cause: result.detail,
        });
        return result;
      }
      const isPartial = result.page.completeness === 'partial';
      if (isPartial && result.page.source === 'render') {
        log.warn('page not ready', {
          request_id: job.requestId,
          url: job.url,
          source: source.name,
          pending: result.pending ?? [],
        });
      }
      metrics.recordPage({
        source: source.name,
        result: isPartial ? 'partial' : 'page',
        durationMs,
      });
      return result;
    },
  };
}

/** What the stores report. */
export function storeListener(log: Log, metrics: Metrics): StoreListener {
  return {
    onNotice: (notice) => log.warn('store', { ...notice }),
    onEvent: (event) => {
      log.warn('store', { ...event });
      countStoreEvent(event, metrics);
    },
    onUnavailable: (question) => metrics.recordStoreError({ ...question, state: 'unavailable' }),
  };
}

/** What the stores could not say is counted where they are asked, see count-store-errors. */
function countStoreEvent(event: PageStoreEvent, metrics: Metrics): void {
  switch (event.kind) {
    case 'collision':
      metrics.recordCollision(parseCacheKey(event.key)?.hostId ?? 0);
      return;
    case 'entry_damaged':
      metrics.recordStoreError({ store: 'entries', operation: 'read', state: 'damaged' });
      return;
    case 'body_damaged':
      metrics.recordStoreError({ store: 'bodies', operation: 'read', state: 'damaged' });
      return;
    case 'entry_refused':
    case 'not_compressed':
    case 'not_deleted':
      return;
  }
}
