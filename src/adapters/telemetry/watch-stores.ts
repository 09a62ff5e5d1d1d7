// What memory and stores have counted themselves, read when somebody asks for the metrics.
import { Counter, Gauge, type Registry } from 'prom-client';
import { METRICS } from './metrics-table.ts';

export interface StoreUse {
  readonly bytes: number;
  readonly pages: number;
  /** Both since the process began. */
  readonly hits: number;
  readonly sharedBodies: number;
}

type Row = (typeof METRICS)[keyof typeof METRICS];

export function watchStores(registry: Registry, read: () => StoreUse): void {
  registry.registerMetric(gaugeOf(METRICS.memoryBytes, () => read().bytes));
  registry.registerMetric(gaugeOf(METRICS.memoryPages, () => read().pages));
  registry.registerMetric(counterOf(METRICS.memoryHits, () => read().hits));
  registry.registerMetric(counterOf(METRICS.sharedBodies, () => read().sharedBodies));
}

function gaugeOf({ name, help }: Row, read: () => number): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(read());
    },
  });
}

function counterOf({ name, help }: Row, read: () => number): Counter {
  return new Counter({
    name,
    help,
    registers: [],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
