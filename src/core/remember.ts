// What a pure function said of a text, kept, since names and User-Agents repeat far more than they
// differ. Bounded by count and by length, so that hostile texts can't fill the memory.
import { createRecentMap } from './recent-map.ts';

const TEXTS_MAX = 2_048;
/** Longer texts are judged anew each time. */
const TEXT_CHARS_MAX = 256;

/** @param judge pure; what it says is never `undefined` */
export function remember<T>(judge: (text: string) => T): (text: string) => T {
  const verdicts = createRecentMap<T>(TEXTS_MAX);
  return (text) => {
    if (text.length > TEXT_CHARS_MAX) return judge(text);
    const known = verdicts.get(text);
    if (known !== undefined) return known;
    const verdict = judge(text);
    verdicts.set(text, verdict);
    return verdict;
  };
}
