// How a lease ends: what its holder tells those who wait, in the words that every channel between
// processes carries. Listed once, so that no channel can miss one.
import { fieldsOf } from './records.ts';

const OUTCOMES = ['stored', 'unshared', 'failed', 'lost'] as const;
const KNOWN: ReadonlySet<unknown> = new Set(OUTCOMES);

/** What followers are told when a lease ends: one short word, and what it needs. */
export interface LeaseResult {
  /**
   * `stored`: it is in the store now. `unshared`, `failed`: it is not, and asking again would not
   * change that. `lost`: the holder is gone without a word.
   */
  readonly outcome: (typeof OUTCOMES)[number];
  /** Why the fetch failed, or why what was fetched is not stored. */
  readonly reason: string | null;
}

/** For what another process has sent. */
export function isLeaseResult(value: unknown): value is LeaseResult {
  const { outcome, reason } = fieldsOf(value);
  return KNOWN.has(outcome) && (reason === null || typeof reason === 'string');
}
