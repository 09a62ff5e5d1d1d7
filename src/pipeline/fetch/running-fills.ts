// The fetches under way in this process, so that a purge wins over those that began before it:
// what they bring is older than the purge, is not stored, and says nothing about the page. Holds no
// more than is running.

export interface RunningFill {
  /** Where the purge log ended when it began, as far as this process knew. */
  readonly since: number;
  /**
   * Whether a purge has come meanwhile, as far as this process knows; or the log was lost, and one
   * may have.
   */
  readonly isPurged: () => boolean;
  readonly end: () => void;
}

export interface RunningFills {
  /**
   * @param identity names the page, see `pageIdentity`
   * @param onPurged told once, at the moment a purge becomes known
   */
  readonly start: (identity: string, onPurged?: () => void) => RunningFill;
  readonly purge: (isMeant: (identity: string) => boolean) => void;
}

interface Running {
  readonly identity: string;
  readonly onPurged: () => void;
  isPurged: boolean;
}

/** @param logEnd see `PurgeJournal.end` */
export function createRunningFills(logEnd: () => number): RunningFills {
  const running = new Set<Running>();
  return {
    start: (identity, onPurged = () => undefined) => {
      const fill = { identity, onPurged, isPurged: false };
      running.add(fill);
      return {
        since: logEnd(),
        isPurged: () => fill.isPurged,
        end: () => void running.delete(fill),
      };
    },
    purge: (isMeant) => {
      for (const fill of running) {
        if (fill.isPurged || !isMeant(fill.identity)) continue;
        fill.isPurged = true;
        fill.onPurged();
      }
    },
  };
}
