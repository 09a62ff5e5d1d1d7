// What happened, told to the log and to the metrics in the same words.
import type { Log, LogFields } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';
import { parseCacheKey } from '../core/key/cache-key.ts';
import type { PageStoreEvent } from '../pipeline/page-store-deps.ts';
import type { PageSource } from '../pipeline/ports.ts';
import type { RequestRecord } from '../pipeline/state.ts';
import type { FinishedRequest } from '../server/gateway/visit.ts';
import type { StoreListener } from './open-stores.ts';

/** One log line and the counters of a finished request. */
export function observeRequest(finished: FinishedRequest, log: Log, metrics: Metrics): void {
  log.info('request', {
    request_id: finished.requestId,
    client: finished.clientAddress,
    method: finished.method,
    status: finished.status,
    ...recordFields(finished.record),
    duration_ms: Math.round(finished.durationMs * 100) / 100,
    user_agent: finished.userAgent,
    ...(finished.isAborted ? { aborted: true } : {}),
    ...bypassFields(finished.bypass),
  });
  countRequest(finished, metrics);
}

/** The pipeline's own words; nothing for a request that never reached it. */
function recordFields(record: RequestRecord | null): LogFields {
  if (record === null) return {};
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
  };
}

function bypassFields(bypass: FinishedRequest['bypass']): LogFields {
  if (bypass === null) return {};
  const { originUrl, error, detail } = bypass;
  return {
    origin: originUrl,
    ...(error === null ? {} : { origin_error: error, origin_detail: detail }),
  };
}

function countRequest({ record, durationMs }: FinishedRequest, metrics: Metrics): void {
  if (record === null) {
    metrics.recordRequest({
      host: null,
      dimension: null,
      source: 'none',
      cache: 'none',
      durationMs,
    });
    return;
  }
  const { host, dimension, source, cache, bot, strippedCount } = record;
  metrics.recordRequest({ host, dimension, source, cache, durationMs });
  if (bot !== null) metrics.recordBot(bot);
  if (record.reason === 'invalid_url' && record.detail !== null) {
    metrics.recordUrlError(record.detail);
  }
  if (host !== null && strippedCount > 0) metrics.recordStrippedPairs(host.id, strippedCount);
}

/** Every page a source gives, counted by outcome; a failure is logged with its inner detail. */
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
          reason: result.reason,
          detail: result.detail,
        });
        return result;
      }
      const isPartial = result.page.completeness === 'partial';
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
  };
}

function countStoreEvent(event: PageStoreEvent, metrics: Metrics): void {
  switch (event.kind) {
    case 'collision':
      metrics.recordCollision(parseCacheKey(event.key)?.hostId ?? 0);
      return;
    case 'entry_damaged':
    case 'entry_refused':
      metrics.recordStoreError({ store: 'entries', operation: 'get', state: 'damaged' });
      return;
    case 'body_damaged':
      metrics.recordStoreError({ store: 'bodies', operation: 'read', state: 'damaged' });
      return;
    case 'not_deleted':
      metrics.recordStoreError({ store: 'bodies', operation: 'delete', state: 'unavailable' });
      return;
    case 'not_compressed':
      metrics.recordStoreError({ store: 'bodies', operation: 'write', state: 'unavailable' });
      return;
  }
}
