// What happened, told to the log and to the metrics in the same words.
import type { Log } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';
import { parseCacheKey } from '../core/key/cache-key.ts';
import type { PageStoreEvent } from '../pipeline/page-store-deps.ts';
import type { PageSource } from '../pipeline/ports.ts';
import type { FinishedRequest } from '../server/gateway/visit.ts';
import type { StoreListener } from './open-stores.ts';

/** One log line and the counters of a finished request. */
export function observeRequest(finished: FinishedRequest, log: Log, metrics: Metrics): void {
  const { record, bypass } = finished;
  log.info('request', {
    request_id: finished.requestId,
    client: finished.clientAddress,
    method: finished.method,
    host: record?.host?.domain ?? null,
    url: record?.url ?? null,
    status: finished.status,
    action: record?.action ?? null,
    reason: record?.reason ?? null,
    source: record?.source ?? null,
    cache: record?.cache ?? null,
    dimension: record?.dimension ?? null,
    rule: record?.rule ?? null,
    key: record?.key ?? null,
    detail: record?.detail ?? null,
    stripped: record?.strippedCount ?? 0,
    duration_ms: Math.round(finished.durationMs * 100) / 100,
    user_agent: finished.userAgent,
    ...(finished.isAborted ? { aborted: true } : {}),
    ...(bypass === null ? {} : { origin: bypass.originUrl }),
    ...(bypass?.error ? { origin_error: bypass.error, origin_detail: bypass.detail } : {}),
  });
  metrics.recordRequest({
    host: record?.host ?? null,
    dimension: record?.dimension ?? null,
    source: record?.source ?? 'none',
    cache: record?.cache ?? 'none',
    durationMs: finished.durationMs,
  });
  if (record === null) return;
  if (record.reason === 'invalid_url' && record.detail !== null) {
    metrics.recordUrlError(record.detail);
  }
  if (record.host !== null && record.strippedCount > 0) {
    metrics.recordStrippedPairs(record.host.id, record.strippedCount);
  }
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
  }
}
