// How a refresh ends, in the words of log, metrics, commands and queues. Listed once, so that none
// of them can miss one.

const OUTCOMES = ['stored', 'fresh', 'unstored', 'failed', 'dropped'] as const;
const KNOWN: ReadonlySet<unknown> = new Set(OUTCOMES);

export interface RefreshResult {
  /**
   * `stored`: got and kept. `fresh`: there was nothing to do. `unstored`: got and may not be kept.
   * `dropped`: the configuration does not mean this page any more.
   */
  readonly outcome: (typeof OUTCOMES)[number];
  /** Why, in one word, where it was not stored; the status of a page that is an error. */
  readonly detail: string | null;
}

/** `status_404`; null for a page that is none of these. */
export function describeStatus(status: number): string | null {
  return status >= 400 ? `status_${status}` : null;
}

/** For what comes out of a store that others can write to. */
export function isRefreshOutcome(value: unknown): value is RefreshResult['outcome'] {
  return KNOWN.has(value);
}
