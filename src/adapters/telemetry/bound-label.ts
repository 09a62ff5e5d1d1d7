// Keeps label values few, whatever reaches them: words of a fixed shape, and only so
// many different ones a metric; the rest count as `other`.

const WORD = /^[a-z0-9*][a-z0-9_.-]{0,252}$/i;
const OTHER = 'other';

/** Creates the check for one label of one metric. */
export function createLabelBound(valuesMax: number): (value: string | null) => string {
  const seen = new Set<string>();
  return (value) => {
    if (value === null) return 'none';
    if (seen.has(value)) return value;
    if (seen.size >= valuesMax || !WORD.test(value)) return OTHER;
    seen.add(value);
    return value;
  };
}
