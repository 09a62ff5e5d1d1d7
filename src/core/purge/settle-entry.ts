// An entry as the purges leave it. The same for a page that is served before the purge has reached
// its entry, and for the entry when it has.
import type { Entry } from '../key/entry.ts';
import type { Verdict } from './purge-index.ts';

/** @returns the entry itself where nothing changes; null: it is not there any more */
export function settleEntry(entry: Entry, verdict: Verdict, nowMs: number): Entry | null {
  switch (verdict.state) {
    case 'kept':
      return entry;
    case 'gone':
      return null;
    case 'softened':
      return entry.softened?.by === verdict.by ? entry : soften(entry, verdict.by, nowMs);
    case 'restored':
      return restore(entry);
  }
}

/** However many soft purges come, what they are taken back to is what was there before them. */
function soften(entry: Entry, by: number, nowMs: number): Entry {
  return {
    ...entry,
    // Neither may lie ahead of the other, also where the entry comes from a clock that is ahead.
    cachedAt: Math.min(entry.cachedAt, nowMs),
    staleAt: Math.min(entry.staleAt, nowMs),
    softened: { by, staleAt: entry.softened?.staleAt ?? entry.staleAt },
  };
}

function restore(entry: Entry): Entry {
  const { softened, ...restored } = entry;
  if (softened === undefined) return entry;
  return { ...restored, staleAt: Math.min(softened.staleAt, entry.deleteAt) };
}
