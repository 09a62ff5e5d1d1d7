// What is in the refresh queue, asked when somebody scrapes.
import { Gauge, type Registry } from 'prom-client';
import type { RefreshCounts } from '../../pipeline/refresh-ports.ts';
import { METRICS } from './metrics-table.ts';

/** @param read null: it can't be asked, and nothing is said of it */
export function watchRefreshQueue(
  registry: Registry,
  read: () => Promise<RefreshCounts | null>,
): void {
  const { name, help, labels } = METRICS.refreshQueue;
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    registers: [registry],
    collect: async () => {
      gauge.reset();
      const counts = await read();
      for (const [state, count] of Object.entries(counts ?? {})) gauge.set({ state }, count);
    },
  });
}
