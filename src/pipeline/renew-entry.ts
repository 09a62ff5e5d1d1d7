// New metadata for bytes that stay: what a 304 of the origin brings. Only in place of the very
// entry that was validated, so that neither a newer one nor a purge is undone.
import { decodeEntry, encodeEntry } from '../core/key/entry-codec.ts';
import type { PageStoreDeps } from './page-store-deps.ts';
import type { CacheKey, Done, Entry } from './ports.ts';
import { settleWritten } from './settle-purged.ts';

/** The value says whether the previous entry was still there. */
export async function renewEntry(
  key: CacheKey,
  { previous, next }: { readonly previous: Entry; readonly next: Entry },
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const checked = decodeEntry(encodeEntry(next), key, deps.clock.now());
  if (checked.state !== 'entry') {
    const reason = checked.state === 'invalid' ? checked.reason : checked.state;
    deps.onEvent({ kind: 'entry_refused', key, reason });
    return { state: 'done', value: false };
  }
  const known = await deps.journal.catchUp();
  if (known.state === 'unavailable') return known;
  const { since = 0 } = next;
  if (!deps.journal.isCurrent({ ...next, since })) return { state: 'done', value: false };
  const kept = await deps.bodies.keepUntil(next, next.deleteAt);
  if (kept.state === 'unavailable') return kept;
  const replaced = await deps.entries.replace(key, previous, checked.entry);
  if (replaced.state === 'unavailable' || !replaced.value) return replaced;
  return { state: 'done', value: !(await settleWritten(checked.entry, deps)) };
}
