// The values of one metric, one slot for each combination of labels. A slot is looked up once and
// added to from then on: a request costs additions, and the library's own work is left to scrapes.
import { createLabelBound } from './bound-label.ts';

export type Labels<L extends string> = Readonly<Record<L, string | null>>;

export interface LabelSlots<L extends string, T> {
  /** The slot of a combination, made when it is new. */
  readonly of: (labels: Labels<L>) => T;
  readonly all: () => Iterable<Slot<T>>;
}

interface Slot<T> {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: T;
}

const SEPARATOR = '\n';

/** @param labelsMax how many values each label may take */
export function createLabelSlots<L extends string, T>(
  labelsMax: Readonly<Record<L, number>>,
  create: () => T,
): LabelSlots<L, T> {
  const names = Object.keys(labelsMax) as L[];
  const bounds = names.map((name) => createLabelBound(labelsMax[name]));
  const slots = new Map<string, Slot<T>>();
  return {
    of: (labels) => {
      let key = '';
      for (const [place, name] of names.entries()) {
        key += `${bounds[place]?.(labels[name]) ?? ''}${SEPARATOR}`;
      }
      const known = slots.get(key);
      if (known !== undefined) return known.value;
      const values = key.split(SEPARATOR);
      const entries = names.map((name, place) => [name, values[place] ?? ''] as const);
      const slot = { labels: Object.fromEntries(entries), value: create() };
      slots.set(key, slot);
      return slot.value;
    },
    all: () => slots.values(),
  };
}
