// The metrics of several processes as those of one: counters and histograms are summed, gauges by
// what each says of itself. What a process counted stays when it has ended.

import { AggregatorRegistry, type Registry } from 'prom-client';
import { fieldsOf } from '../../core/records.ts';

/** What a registry holds, as data that may go from process to process. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** As a scraper gets it. */
export async function formatSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...snapshots]).metrics();
}

/** Adds what an ended process counted to what others had before; its gauges ended with it. */
export function addTotals(totals: MetricsSnapshot, ended: MetricsSnapshot): MetricsSnapshot {
  const counted = ended.filter(({ type }) => String(type) !== 'gauge');
  const sums: readonly unknown[] = AggregatorRegistry.aggregate([
    totals,
    counted,
  ]).getMetricsAsArray();
  // What it registers are the sums themselves, with their values.
  return readSnapshot(sums) ?? [];
}

/** @returns null for what no registry made */
export function readSnapshot(value: unknown): MetricsSnapshot | null {
  return Array.isArray(value) && value.every(isMetric) ? (value as MetricsSnapshot) : null;
}

function isMetric(value: unknown): boolean {
  const { name, type, values } = fieldsOf(value);
  return typeof name === 'string' && typeof type === 'string' && Array.isArray(values);
}
