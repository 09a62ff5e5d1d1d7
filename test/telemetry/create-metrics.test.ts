// Metrics: names and labels as documented, and no text of a client among the labels.
import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../src/adapters/telemetry/create-metrics.ts';

const HOST = { id: 7, domain: 'example.com' };

const stripped = (strippedCount: number) => ({
  host: HOST,
  dimension: null,
  source: 'cache',
  cache: 'hit',
  bot: null,
  strippedCount,
  isCollapsed: false,
});

describe('createMetrics', () => {
  it.each<[string, (metrics: Metrics) => void, readonly string[]]>([
    [
      'a request',
      (m) =>
        m.requestMeter({
          host: HOST,
          dimension: 'desktop',
          source: 'cache',
          cache: 'hit',
          bot: null,
          strippedCount: 0,
          isCollapsed: false,
        })(20),
      [
        'edge_gateway_requests_total{host="7",domain="example.com",dimension="desktop",source="cache",cache="hit"} 1',
        'edge_gateway_request_duration_seconds_bucket{le="0.01",source="cache",cache="hit"} 0',
        'edge_gateway_request_duration_seconds_bucket{le="0.05",source="cache",cache="hit"} 1',
        'edge_gateway_request_duration_seconds_sum{source="cache",cache="hit"} 0.02',
      ],
    ],
    [
      'a request for no host of ours',
      (m) =>
        m.requestMeter({
          host: null,
          dimension: null,
          source: 'status',
          cache: 'none',
          bot: null,
          strippedCount: 0,
          isCollapsed: false,
        })(1),
      [
        'edge_gateway_requests_total{host="none",domain="none",dimension="none",source="status",cache="none"} 1',
      ],
    ],
    [
      'a page and a failure',
      (m) => {
        m.recordPage({ source: 'service', result: 'page', durationMs: 400 });
        m.recordPage({ source: 'service', result: 'renderer_full', durationMs: 1 });
      },
      [
        'edge_gateway_page_source_results_total{source="service",result="page"} 1',
        'edge_gateway_page_source_results_total{source="service",result="renderer_full"} 1',
        'edge_gateway_page_source_duration_seconds_count{source="service"} 2',
      ],
    ],
    [
      'those who render',
      (m) => {
        m.recordRendererRestart('crashed');
        m.watchRenderers(async () => [
          { name: 'own', isReady: true },
          { name: 'renderer:10080/base', isReady: false },
        ]);
      },
      [
        'edge_gateway_renderer_restarts_total{reason="crashed"} 1',
        'edge_gateway_renderer_ready{service="own"} 1',
        'edge_gateway_renderer_ready{service="renderer:10080/base"} 0',
      ],
    ],
    [
      'a store that does not answer',
      (m) => m.recordStoreError({ store: 'entries', operation: 'read', state: 'unavailable' }),
      ['edge_gateway_store_errors_total{store="entries",operation="read",state="unavailable"} 1'],
    ],
    ['a collision', (m) => m.recordCollision(7), ['edge_gateway_key_collisions_total{host="7"} 1']],
    [
      'stripped pairs',
      (m) => {
        m.requestMeter(stripped(3))(1);
        m.requestMeter(stripped(2))(1);
      },
      ['edge_gateway_stripped_pairs_total{host="7"} 5'],
    ],
    [
      'what the stores count themselves',
      (m) => m.watchStores(() => ({ bytes: 5_000, pages: 3, hits: 70, sharedBodies: 2 })),
      [
        'edge_gateway_memory_bytes 5000',
        'edge_gateway_memory_pages 3',
        'edge_gateway_memory_hits_total 70',
        'edge_gateway_bodies_shared_total 2',
      ],
    ],
    [
      'a bad URL',
      (m) => m.recordUrlError('too_long'),
      ['edge_gateway_normalization_errors_total{kind="too_long"} 1'],
    ],
    [
      'a refusal',
      (m) => m.recordRefusal('host_missing'),
      ['edge_gateway_refused_requests_total{reason="host_missing"} 1'],
    ],
  ])('counts %s', async (_what, record, lines) => {
    const metrics = createMetrics();
    record(metrics);
    const text = await metrics.render();
    for (const line of lines) expect(text.split('\n')).toContain(line);
  });

  it.each(['/path?x', 'a b', 'ä', '', '"} 1\nfake_total 9', 'x'.repeat(300)])(
    'H31: %j never becomes a label',
    async (text) => {
      const metrics = createMetrics();
      metrics.recordRefusal(text);
      const rendered = await metrics.render();
      expect(rendered).toContain('edge_gateway_refused_requests_total{reason="other"} 1');
      expect(rendered).not.toContain('fake_total');
    },
  );

  it('H31: a flood of words fills one series', async () => {
    const metrics = createMetrics();
    for (let i = 0; i < 1_000; i += 1) metrics.recordRefusal(`reason_${i}`);
    const series = (await metrics.render()).match(/^edge_gateway_refused_requests_total\{/gm) ?? [];
    expect(series).toHaveLength(65);
  });

  it('measures the event loop', async () => {
    expect(await createMetrics().render()).toContain('nodejs_eventloop_lag_seconds');
  });

  it('each has a registry of its own', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.recordCollision(1);
    expect(await other.render()).not.toContain('edge_gateway_key_collisions_total{');
    expect(one.contentType).toContain('text/plain');
  });
});
