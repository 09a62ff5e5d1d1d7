// What this process tells the usage book: noted in memory while requests are served, written every
// few seconds. A page that is hit a thousand times a second is noted once in some minutes; a
// process that is killed takes at most the last seconds with it, which the next sweep puts right.
import type { CacheKey, Clock } from '../ports.ts';
import type { UsageBook, UsageChange } from '../upkeep-ports.ts';

export interface UseNotes {
  readonly used: (key: CacheKey) => void;
  readonly stored: (key: CacheKey, bytes: number) => void;
  readonly gone: (key: CacheKey) => void;
  /** Writes what was noted so far; what can't be written is left to the next sweep. */
  readonly flush: () => Promise<void>;
  /** Writes the last notes. */
  readonly close: () => Promise<void>;
}

const FLUSH_MS = 2_000;
/** So many notes are written without waiting for their time. */
const FLUSH_NOTES = 1_000;
/** More uses than that are not noted, until these are written. */
const NOTES_MAX = 20_000;
/** How long a use is not noted again: once to twice as long. */
const NOTED_MS = 2 * 60_000;
const NOTED_KEYS_MAX = 100_000;

/** @param options the clock decides when a page's use is worth a note again */
export function createUseNotes({
  book,
  clock,
}: {
  readonly book: UsageBook;
  readonly clock: Clock;
}): UseNotes {
  const recent = createRecentKeys(clock);
  let notes = new Map<CacheKey, UsageChange>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  function note(change: UsageChange): void {
    notes.set(change.key, change);
    if (notes.size >= FLUSH_NOTES) void flush();
    else timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
  }

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const changes = [...notes.values()];
    notes = new Map();
    if (changes.length > 0) writing = writing.then(() => book.apply(changes));
    await writing;
  }

  return {
    used: (key) => {
      if (recent.has(key) || notes.size >= NOTES_MAX) return;
      recent.add(key);
      const noted = notes.get(key);
      const usedAt = clock.now();
      if (noted === undefined) note({ kind: 'used', key, usedAt });
      else if (noted.kind !== 'gone') notes.set(key, { ...noted, usedAt });
    },
    stored: (key, bytes) => note({ kind: 'stored', key, bytes, usedAt: clock.now() }),
    gone: (key) => note({ kind: 'gone', key }),
    flush,
    close: flush,
  };
}

/** Two generations, so that forgetting costs nothing; bounded. */
function createRecentKeys(clock: Clock): {
  readonly has: (key: CacheKey) => boolean;
  readonly add: (key: CacheKey) => void;
} {
  let current = new Set<CacheKey>();
  let previous = new Set<CacheKey>();
  let beganAt = clock.now();
  return {
    has: (key) => {
      const ageMs = clock.now() - beganAt;
      if (ageMs >= NOTED_MS || ageMs < 0) {
        previous = ageMs >= 0 && ageMs < 2 * NOTED_MS ? current : new Set();
        current = new Set();
        beganAt = clock.now();
      }
      return current.has(key) || previous.has(key);
    },
    add: (key) => {
      if (current.size >= NOTED_KEYS_MAX) {
        previous = current;
        current = new Set();
      }
      current.add(key);
    },
  };
}
