// The fetches under way in this process, so that a purge wins over those that began before it:
// what they bring is older than the purge and is not stored. Holds no more than is running.
import type { PurgeMode } from './purge-stored.ts';

export interface RunningFill {
  /** The purge that came meanwhile; null when none did. */
  readonly purgedBy: () => PurgeMode | null;
  readonly end: () => void;
}

export interface RunningFills {
  /** @param identity names the page, see `pageIdentity` */
  readonly start: (identity: string) => RunningFill;
  readonly purge: (isMeant: (identity: string) => boolean, mode: PurgeMode) => void;
}

export function createRunningFills(): RunningFills {
  const running = new Set<{ readonly identity: string; purgedBy: PurgeMode | null }>();
  return {
    start: (identity) => {
      const fill = { identity, purgedBy: null };
      running.add(fill);
      return { purgedBy: () => fill.purgedBy, end: () => void running.delete(fill) };
    },
    purge: (isMeant, mode) => {
      for (const fill of running) {
        // A deletion is not undone by a later purge that only marks stale.
        const isDeleted = fill.purgedBy?.soft === false;
        if (isMeant(fill.identity) && !isDeleted) fill.purgedBy = mode;
      }
    },
  };
}
