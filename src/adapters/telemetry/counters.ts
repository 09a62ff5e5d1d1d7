// Counters and histograms that cost an addition a request. The library's own make an object and a
// hash of the labels each time; here that is done when a scraper asks.
import { Counter, type Registry } from 'prom-client';
import { createLabelSlots, type Labels } from './label-slots.ts';

export interface MetricRow<L extends string> {
  readonly name: string;
  readonly help: string;
  /** Values each label may take. */
  readonly labels: Readonly<Record<L, number>>;
  /** Upper bounds, ascending. */
  readonly buckets?: readonly number[];
}

/** Adds to one combination of labels. */
export type Adder = (amount: number) => void;

/** The adder of a combination: to be kept by whoever adds often. */
export type Meter<L extends string> = (labels: Labels<L>) => Adder;

export function createCounter<L extends string>(registry: Registry, row: MetricRow<L>): Meter<L> {
  const slots = createLabelSlots(row.labels, () => {
    const sum = { uncounted: 0 };
    const add: Adder = (amount) => {
      sum.uncounted += amount;
    };
    return { sum, add };
  });
  new Counter({
    name: row.name,
    help: row.help,
    labelNames: Object.keys(row.labels),
    registers: [registry],
    collect() {
      for (const { labels, value } of slots.all()) {
        this.inc({ ...labels }, value.sum.uncounted);
        value.sum.uncounted = 0;
      }
    },
  });
  return (labels) => slots.of(labels).add;
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName: string;
}

/** As the library's own, in its registry. */
export function createHistogram<L extends string>(
  registry: Registry,
  { name, help, labels: labelsMax, buckets = [] }: MetricRow<L>,
): Meter<L> {
  const slots = createLabelSlots(labelsMax, () => createBuckets(buckets));
  const describe = (): readonly Sample[] =>
    [...slots.all()].flatMap(({ labels, value: { counts, total } }) => {
      let count = 0;
      const upTo = counts.map((one, place) => {
        count += one;
        const le = buckets[place] ?? '+Inf';
        return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
      });
      return [
        ...upTo,
        { labels, value: total.sum, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ];
    });
  const metric = {
    name,
    help,
    get: async () => ({ name, help, type: 'histogram', values: describe(), aggregator: 'sum' }),
  };
  // The registry asks for no more than this; its type names the library's own classes.
  registry.registerMetric(metric as unknown as Counter);
  return (labels) => slots.of(labels).add;
}

function createBuckets(bounds: readonly number[]) {
  /** One more than bounds: what is above all of them. */
  const counts: number[] = Array.from({ length: bounds.length + 1 }, () => 0);
  const total = { sum: 0 };
  const add: Adder = (amount) => {
    let place = 0;
    while (place < bounds.length && amount > (bounds[place] ?? 0)) place += 1;
    counts[place] = (counts[place] ?? 0) + 1;
    total.sum += amount;
  };
  return { counts, total, add };
}
