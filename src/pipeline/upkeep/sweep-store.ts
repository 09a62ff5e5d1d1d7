// One sweep: what has expired goes, and what is of no use to anybody: damaged entries, entries
// without a body, bodies without an entry, leftovers of killed processes. What a purge left half
// done is carried on, before the log forgets it. Pages of a host that is no longer configured stay
// until they expire: it may come back. The usage book is put right.
import { countBodyBytes, countEntryBytes } from '../../core/key/entry-bytes.ts';
import type { CacheKey, Done, Entry } from '../ports.ts';
import { toStored } from '../purge/settle-purged.ts';
import type { UsageChange } from '../upkeep-ports.ts';
import type { ItemVerdict, JudgedItem } from './judge-items.ts';
import { removeBodies, removePage } from './remove-page.ts';
import type { Pace, UpkeepDeps } from './upkeep-deps.ts';
import { walkEntries, walkOrphans, walkUnused } from './walk-store.ts';

export type SweptReason = Exclude<ItemVerdict, 'live' | 'foreign'> | 'orphan' | 'leftover';

export interface SweepReport {
  /** How many were looked at. */
  readonly entries: number;
  readonly removed: ReadonlyMap<SweptReason, number>;
  /** How many a soft purge had left as they were, and are marked now; or brought back. */
  readonly settled: number;
  /** Why it ended early; null: it did not. */
  readonly stoppedBy: string | null;
}

interface Sweep extends UpkeepDeps {
  readonly pace: Pace;
  readonly tally: Tally;
}

interface Tally {
  entries: number;
  settled: number;
  readonly removed: Map<SweptReason, number>;
}

/** Bodies are written a moment before their metadata; nothing is lost by waiting longer. */
const ORPHAN_AGE_MS = 10 * 60_000;

const DONE: Done<void> = { state: 'done', value: undefined };
const UNCHANGED: Done<readonly UsageChange[]> = { state: 'done', value: [] };

/** Sweeps the whole store. */
export async function sweepStore(deps: UpkeepDeps, pace: Pace): Promise<SweepReport> {
  const tally: Tally = { entries: 0, settled: 0, removed: new Map() };
  const sweep: Sweep = { ...deps, pace, tally };
  for (const step of [sweepEntries, sweepOrphans, sweepLeftovers, sweepUsage]) {
    const done = await step(sweep);
    if (done.state === 'unavailable') return { ...tally, stoppedBy: done.reason };
    if (pace.isStopped()) return { ...tally, stoppedBy: 'stopped' };
  }
  return { ...tally, stoppedBy: null };
}

async function sweepEntries(sweep: Sweep): Promise<Done<void>> {
  for await (const slice of walkEntries(sweep, sweep.pace)) {
    if (slice.state === 'unavailable') return slice;
    sweep.tally.entries += slice.value.length;
    const changes: UsageChange[] = [];
    for (const judged of slice.value) {
      const done = await sweepEntry(judged, sweep);
      if (done.state === 'unavailable') return done;
      changes.push(...done.value);
    }
    const applied = await sweep.usage.apply(changes);
    if (applied.state === 'unavailable') return applied;
  }
  return DONE;
}

/** @returns what the usage book is to be told */
async function sweepEntry(
  { item, ref, verdict, next }: JudgedItem,
  sweep: Sweep,
): Promise<Done<readonly UsageChange[]>> {
  const { key, bytes, content } = item;
  if (verdict === 'live' || verdict === 'foreign') {
    if (content.state !== 'entry') return UNCHANGED;
    const { entry } = content;
    if (next !== null) return await settleLeft(key, { entry, next }, sweep);
    const found = {
      kind: 'found',
      key,
      bytes: bytes + countBodyBytes(entry),
      usedAt: entry.cachedAt,
    } as const;
    return { state: 'done', value: [found] };
  }
  const removed = await removePage(item, ref, sweep);
  if (removed.state === 'unavailable') return removed;
  if (!removed.value) return UNCHANGED;
  countRemoved(sweep.tally, verdict, 1);
  return { state: 'done', value: [{ kind: 'gone', key }] };
}

/** In place of the very entry that was judged: what is newer needs nothing. */
async function settleLeft(
  key: CacheKey,
  { entry, next }: { readonly entry: Entry; readonly next: Entry },
  sweep: Sweep,
): Promise<Done<readonly UsageChange[]>> {
  const stored = toStored(key, next, sweep);
  const replaced = await sweep.entries.replace(key, entry, stored);
  if (replaced.state === 'unavailable') return replaced;
  if (!replaced.value) return UNCHANGED;
  sweep.tally.settled += 1;
  const bytes = countEntryBytes(stored);
  return { state: 'done', value: [{ kind: 'found', key, bytes, usedAt: entry.cachedAt }] };
}

async function sweepOrphans(sweep: Sweep): Promise<Done<void>> {
  const before = sweep.clock.now() - ORPHAN_AGE_MS;
  for await (const slice of walkOrphans(sweep, before, sweep.pace)) {
    if (slice.state === 'unavailable') return slice;
    for (const ref of slice.value) {
      const removed = await removeBodies(ref, before, sweep);
      if (removed.state === 'unavailable') return removed;
      countRemoved(sweep.tally, 'orphan', Number(removed.value));
    }
  }
  return DONE;
}

async function sweepLeftovers({ files, clock, tally }: Sweep): Promise<Done<void>> {
  if (files === null) return DONE;
  const swept = await files.sweepLeftovers(clock.now() - ORPHAN_AGE_MS);
  if (swept.state === 'unavailable') return swept;
  countRemoved(tally, 'leftover', swept.value);
  return DONE;
}

async function sweepUsage(sweep: Sweep): Promise<Done<void>> {
  for await (const slice of walkUnused(sweep, sweep.pace)) {
    if (slice.state === 'unavailable') return slice;
    const done = await sweep.usage.apply(slice.value.map((key) => ({ kind: 'gone', key })));
    if (done.state === 'unavailable') return done;
  }
  return DONE;
}

function countRemoved({ removed }: Tally, reason: SweptReason, by: number): void {
  if (by > 0) removed.set(reason, (removed.get(reason) ?? 0) + by);
}
