// The metrics of several processes as one: what sums, what doesn't, what stays.
import { expect, test } from 'vitest';
import { createMetrics, type Metrics } from '../../src/adapters/telemetry/create-metrics.ts';
import {
  addTotals,
  formatSnapshots,
  type MetricsSnapshot,
  readSnapshot,
} from '../../src/adapters/telemetry/merge-snapshots.ts';

/** As it arrives from another process. */
async function snapshotOf(record: (metrics: Metrics) => void): Promise<MetricsSnapshot> {
  const metrics = createMetrics();
  record(metrics);
  const snapshot = readSnapshot(JSON.parse(JSON.stringify(await metrics.snapshot())));
  if (snapshot === null) throw new Error('no snapshot');
  return snapshot;
}

const served = (metrics: Metrics): void =>
  metrics.requestMeter({
    host: { id: 1, domain: 'a.example' },
    dimension: 'desktop',
    source: 'cache',
    cache: 'hit',
    bot: null,
    strippedCount: 0,
    isCollapsed: false,
  })(20);

async function linesOf(snapshots: readonly MetricsSnapshot[]): Promise<readonly string[]> {
  return (await formatSnapshots(snapshots)).split('\n');
}

test('counters and histograms are summed, gauges too unless they say otherwise', async () => {
  const primary = await snapshotOf((metrics) => {
    metrics.setWorkers(2);
    metrics.setConfig({ isCurrent: true, readAt: 5_000 });
  });
  const worker = await snapshotOf((metrics) => {
    served(metrics);
    served(metrics);
    metrics.recordRefusal('host_missing');
  });
  const lines = await linesOf([primary, worker, await snapshotOf(served)]);
  const labels = 'source="cache",cache="hit"';
  expect(lines).toContain(
    `edge_gateway_requests_total{host="1",domain="a.example",dimension="desktop",${labels}} 3`,
  );
  expect(lines).toContain(`edge_gateway_request_duration_seconds_bucket{le="0.05",${labels}} 3`);
  expect(lines).toContain(`edge_gateway_request_duration_seconds_count{${labels}} 3`);
  expect(lines).toContain('edge_gateway_refused_requests_total{reason="host_missing"} 1');
  expect(lines).toContain('edge_gateway_workers 2');
  expect(lines).toContain('edge_gateway_config_last_reload_successful 1');
  expect(lines).toContain('edge_gateway_config_last_reload_success_timestamp_seconds 5');
});

test('what ended processes counted stays; their gauges go', async () => {
  let totals: MetricsSnapshot = [];
  for (let ended = 0; ended < 3; ended += 1) {
    totals = addTotals(
      totals,
      await snapshotOf((metrics) => {
        served(metrics);
        metrics.setWorkers(7);
      }),
    );
  }
  const lines = await linesOf([await snapshotOf(served), totals]);
  expect(lines.find((line) => line.startsWith('edge_gateway_requests_total{'))).toMatch(/ 4$/);
  expect(lines).toContain('edge_gateway_workers 0');
  expect(lines.filter((line) => line.startsWith('process_resident_memory_bytes '))).toHaveLength(1);
});

test.each([null, 'text', {}, [null], [{ name: 'x' }], [{ name: 'x', type: 'gauge', values: 1 }]])(
  '%j is no snapshot',
  (value) => expect(readSnapshot(value)).toBeNull(),
);
