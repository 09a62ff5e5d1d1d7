// New metadata for bytes that stay: what a 304 of the origin brings. Only in place of the very
// entry that was validated, so that neither a newer one nor a purge is undone: that is compared
// where it is stored, and needs no turn among the writers of the page.
import { decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import type { CacheKey, Done, Entry } from '../ports.ts';
import { settleWritten } from '../purge/settle-purged.ts';
import type { PageStoreDeps } from './page-store-deps.ts';
import { withdrawPage } from './withdraw-page.ts';

const NOT_RENEWED: Done<boolean> = { state: 'done', value: false };

export interface Renewal {
  /** What was validated. */
  readonly previous: Entry;
  readonly next: Entry;
  /** Whether a purge has come meanwhile that the log may tell of no more, see `RunningFill`. */
  readonly isPurged?: () => boolean;
}

/** The value says whether the previous entry was still there. */
export async function renewEntry(
  key: CacheKey,
  { previous, next, isPurged = () => false }: Renewal,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const checked = decodeEntry(encodeEntry(next), key, deps.clock.now());
  if (checked.state !== 'entry') {
    const reason = checked.state === 'invalid' ? checked.reason : checked.state;
    deps.onEvent({ kind: 'entry_refused', key, reason });
    return NOT_RENEWED;
  }
  const known = await deps.journal.catchUp();
  if (known.state === 'unavailable') return known;
  const { since = 0 } = next;
  if (isPurged() || !deps.journal.isCurrent({ ...next, since })) return NOT_RENEWED;
  const kept = await deps.bodies.keepUntil(next, next.deleteAt);
  if (kept.state === 'unavailable') return kept;
  const replaced = await deps.entries.replace(key, previous, checked.entry);
  if (replaced.state === 'unavailable' || !replaced.value) return replaced;
  if (await settleWritten(checked.entry, deps)) return NOT_RENEWED;
  if (!isPurged()) return replaced;
  // By the log alone it would stay.
  await withdrawPage({ key, ref: next, url: next.url }, deps);
  return NOT_RENEWED;
}
