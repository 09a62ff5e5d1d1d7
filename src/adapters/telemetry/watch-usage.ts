// How much is stored, by host, asked when somebody scrapes.
import { Gauge, type Registry } from 'prom-client';
import type { HostUsage } from '../../pipeline/upkeep-ports.ts';
import { createLabelBound } from './bound-label.ts';
import { METRICS } from './metrics-table.ts';

/** @param read null: the store can't be asked, and nothing is said of it */
export function watchUsage(
  registry: Registry,
  read: () => Promise<readonly HostUsage[] | null>,
): void {
  addGauge(registry, METRICS.storedEntries, async () => sums(await read(), 'entries'));
  addGauge(registry, METRICS.storedBytes, async () => sums(await read(), 'bytes'));
}

type Sums = readonly (readonly [hostId: number, sum: number])[];

function sums(hosts: readonly HostUsage[] | null, field: 'entries' | 'bytes'): Sums {
  return (hosts ?? []).map((host) => [host.hostId, host[field]]);
}

function addGauge(
  registry: Registry,
  { name, help, labels }: (typeof METRICS)['storedEntries' | 'storedBytes'],
  read: () => Promise<Sums>,
): void {
  const bound = createLabelBound(labels.host);
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    registers: [registry],
    collect: async () => {
      const hosts = await read();
      gauge.reset();
      for (const [hostId, sum] of hosts) gauge.inc({ host: bound(String(hostId)) }, sum);
    },
  });
}
