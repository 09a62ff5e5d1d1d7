// Whether those who render are ready, asked when somebody scrapes. Their names are configured, so
// that there are no more of them than the operator has written.
import { Gauge, type Registry } from 'prom-client';
import type { RendererState } from '../../pipeline/ports.ts';
import { METRICS } from './metrics-table.ts';

export function watchRenderers(
  registry: Registry,
  read: () => Promise<readonly RendererState[]>,
): void {
  const { name, help, labels } = METRICS.rendererReady;
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    registers: [registry],
    collect: async () => {
      const states = await read();
      gauge.reset();
      for (const state of states) gauge.set({ service: state.name }, state.isReady ? 1 : 0);
    },
  });
}
