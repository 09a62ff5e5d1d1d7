// Our own counters and histograms beside the library's: for the same observations a scraper reads
// the same text, and other processes get the same data.
import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createCounter, createHistogram } from '../../src/adapters/telemetry/counters.ts';
import { createLabelSlots } from '../../src/adapters/telemetry/label-slots.ts';

const NAME = 'test_metric';
const HELP = 'What is tested';
const LABELS = { source: 8, cache: 8 };
const BUCKETS = [0.005, 0.05, 0.5, 5];

interface Observed {
  readonly labels: { readonly source: string; readonly cache: string };
  readonly amount: number;
}

/** Numbers whose sums are rounded, bounds among them. */
const anyAmount = fc.oneof(
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.constantFrom(0, ...BUCKETS, 0.1, 0.2, 1e-9, 1e9),
);
const anyObserved: fc.Arbitrary<Observed> = fc.record({
  labels: fc.record({
    source: fc.constantFrom('cache', 'rendered', 'bypass'),
    cache: fc.constantFrom('hit', 'miss'),
  }),
  amount: anyAmount,
});
/** What comes between two scrapes. */
const anyHistory = fc.array(fc.array(anyObserved, { maxLength: 12 }), {
  minLength: 1,
  maxLength: 4,
});

interface Pair {
  readonly ours: Registry;
  readonly theirs: Registry;
  readonly observe: (observed: Observed) => void;
}

function pairCounters(): Pair {
  const [ours, theirs] = [new Registry(), new Registry()];
  const meter = createCounter(ours, { name: NAME, help: HELP, labels: LABELS });
  const counter = new Counter({
    name: NAME,
    help: HELP,
    labelNames: Object.keys(LABELS),
    registers: [theirs],
  });
  return {
    ours,
    theirs,
    observe: ({ labels, amount }) => {
      meter(labels)(amount);
      counter.inc(labels, amount);
    },
  };
}

function pairHistograms(): Pair {
  const [ours, theirs] = [new Registry(), new Registry()];
  const meter = createHistogram(ours, { name: NAME, help: HELP, labels: LABELS, buckets: BUCKETS });
  const histogram = new Histogram({
    name: NAME,
    help: HELP,
    labelNames: Object.keys(LABELS),
    buckets: BUCKETS,
    registers: [theirs],
  });
  return {
    ours,
    theirs,
    observe: ({ labels, amount }) => {
      meter(labels)(amount);
      histogram.observe(labels, amount);
    },
  };
}

test('a histogram is the library’s, in text and as data', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const { ours, theirs, observe } = pairHistograms();
      for (const observed of history) {
        for (const one of observed) observe(one);
        expect(await ours.metrics()).toBe(await theirs.metrics());
        // What processes send each other.
        const [sent, expected] = [await readSent(ours), await readSent(theirs)];
        expect(sent).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});

test('a counter is the library’s, but for the rounding of its sums', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (history) => {
      const { ours, theirs, observe } = pairCounters();
      for (const observed of history) {
        for (const one of observed) observe({ ...one, amount: Math.floor(one.amount) });
        expect(await ours.metrics()).toBe(await theirs.metrics());
        expect(await readSent(ours)).toEqual(await readSent(theirs));
      }
    }),
    { numRuns: 60 },
  );
});

async function readSent(registry: Registry): Promise<unknown> {
  const text = JSON.stringify(await registry.getMetricsAsJSON());
  // The library's buckets have a place for exemplars, which are not used.
  return JSON.parse(text, (name, value) => (name === 'exemplar' ? undefined : value));
}

test('an adder is kept and goes on adding, over scrapes and beside others of its labels', async () => {
  const { ours, observe } = pairCounters();
  const again = new Registry();
  const meter = createCounter(again, { name: NAME, help: HELP, labels: LABELS });
  const labels = { source: 'cache', cache: 'hit' };
  const [one, other] = [meter(labels), meter({ ...labels })];
  expect(one).toBe(other);
  for (let i = 0; i < 3; i += 1) {
    observe({ labels, amount: 2 });
    one(1);
    other(1);
    expect(await again.metrics()).toBe(await ours.metrics());
  }
});

test('combinations have one slot each, in the order they came, within the bounds', () => {
  let made = 0;
  const slots = createLabelSlots({ a: 2, b: 1 }, () => {
    made += 1;
    return { place: made };
  });
  const rows = [
    [{ a: 'x', b: 'y' }, { a: 'x', b: 'y' }, 1],
    [{ a: 'y', b: 'y' }, { a: 'y', b: 'y' }, 2],
    [{ b: 'y', a: 'x' }, { a: 'x', b: 'y' }, 1],
    [{ a: null, b: null }, { a: 'none', b: 'none' }, 3],
    [{ a: 'z', b: 'y' }, { a: 'other', b: 'y' }, 4],
    [{ a: 'zz', b: 'y' }, { a: 'other', b: 'y' }, 4],
    [{ a: 'x', b: 'not\nthis' }, { a: 'x', b: 'other' }, 5],
    [{ a: 'x', b: 'nor this' }, { a: 'x', b: 'other' }, 5],
  ] as const;
  for (const [labels, named, place] of rows) {
    expect(slots.of(labels).place).toBe(place);
    expect([...slots.all()][place - 1]).toEqual({ labels: named, value: { place } });
  }
  expect(made).toBe(5);
});
