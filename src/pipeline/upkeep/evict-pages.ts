// Keeps the store within its quota: when it is over, the pages that were used longest ago go until
// there is some room again. What has just been put in place stays, whatever the book says.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { BodyRef, Done } from '../ports.ts';
import type { HostUsage, StoredItem, UsageChange, UsedEntry } from '../upkeep-ports.ts';
import { removeBodies, removePage } from './remove-page.ts';
import { type Pace, SETTLED_MS, type UpkeepDeps } from './upkeep-deps.ts';

/** Down to this share of the quota, so that not every new page evicts one. */
const KEPT_SHARE = 0.95;
const ROWS_PER_SLICE = 64;
/** So many deletions share a commit of the store and wait for the disk together. */
const PAGES_AT_ONCE = 8;

export interface Eviction {
  readonly pages: number;
  /** Why it ended early; null: it did not. */
  readonly stoppedBy: string | null;
}

/** Evicts what is too much, if it is. */
export async function evictPages(
  bytesMax: number,
  deps: UpkeepDeps,
  pace: Pace,
): Promise<Eviction> {
  let pages = 0;
  const hosts = await deps.usage.countHosts();
  if (hosts.state === 'unavailable') return { pages, stoppedBy: hosts.reason };
  let bytes = sumBytes(hosts.value);
  const goal = bytes > bytesMax ? KEPT_SHARE * bytesMax : bytes;
  while (bytes > goal) {
    const beganAt = performance.now();
    const slice = await evictSlice(bytes - goal, deps);
    if (slice.state === 'unavailable') return { pages, stoppedBy: slice.reason };
    pages += slice.value.pages;
    bytes -= slice.value.bytes;
    if (slice.value.changes === 0) return { pages, stoppedBy: 'all_young' };
    if (pace.isStopped()) return { pages, stoppedBy: 'stopped' };
    await pace.rest(performance.now() - beganAt);
  }
  return { pages, stoppedBy: null };
}

export function sumBytes(hosts: readonly HostUsage[]): number {
  return hosts.reduce((sum, { bytes }) => sum + bytes, 0);
}

interface EvictedSlice {
  readonly pages: number;
  readonly bytes: number;
  /** How much the usage book was told; nothing: all of the oldest are young, or none is left. */
  readonly changes: number;
}

async function evictSlice(bytesNeeded: number, deps: UpkeepDeps): Promise<Done<EvictedSlice>> {
  const rows = await deps.usage.listOldest(ROWS_PER_SLICE);
  if (rows.state === 'unavailable') return rows;
  const changes: UsageChange[] = [];
  let bytes = 0;
  let pages = 0;
  let next = 0;
  while (next < rows.value.length && bytes < bytesNeeded) {
    const some = takeRows(rows.value.slice(next, next + PAGES_AT_ONCE), bytesNeeded - bytes);
    next += some.length;
    const outcomes = await Promise.all(some.map((row) => evictPage(row, deps)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.state === 'unavailable') return outcome;
      if (outcome.value === null) continue;
      changes.push(outcome.value);
      if (outcome.value.kind !== 'gone') continue;
      bytes += some[index]?.bytes ?? 0;
      pages += 1;
    }
  }
  const applied = await deps.usage.apply(changes);
  if (applied.state === 'unavailable') return applied;
  return { state: 'done', value: { pages, bytes, changes: changes.length } };
}

/** The first rows, as many as are needed if all of them go. */
function takeRows(rows: readonly UsedEntry[], bytesNeeded: number): readonly UsedEntry[] {
  let bytes = 0;
  const end = rows.findIndex((row) => {
    bytes += row.bytes;
    return bytes >= bytesNeeded;
  });
  return end === -1 ? rows : rows.slice(0, end + 1);
}

/** @returns what the usage book is to be told; null: nothing, since it is too young to go */
async function evictPage({ key }: UsedEntry, deps: UpkeepDeps): Promise<Done<UsageChange | null>> {
  const gone = { state: 'done', value: { kind: 'gone', key } } as const;
  const ref = parseCacheKey(key);
  if (ref === null) return gone;
  const items = await deps.inventory.read([key]);
  if (items.state === 'unavailable') return items;
  const [item] = items.value;
  const before = deps.clock.now() - SETTLED_MS;
  const young = await isYoung(ref, item, before, deps);
  if (young.state === 'unavailable') return young;
  if (young.value) return { state: 'done', value: null };
  const removed =
    item === undefined ? await removeBodies(ref, before, deps) : await removePage(item, ref, deps);
  if (removed.state === 'unavailable') return removed;
  // Another version came meanwhile: the book is about to hear of it.
  const isReplaced = item !== undefined && !removed.value;
  return isReplaced
    ? { state: 'done', value: { kind: 'used', key, usedAt: deps.clock.now() } }
    : gone;
}

async function isYoung(
  ref: BodyRef,
  item: StoredItem | undefined,
  before: number,
  { files, clock }: UpkeepDeps,
): Promise<Done<boolean>> {
  if (files === null) {
    const storedAt = item?.content.state === 'entry' ? item.content.entry.cachedAt : 0;
    return { state: 'done', value: storedAt > before && storedAt <= clock.now() };
  }
  const old = await files.findOld([ref], before);
  if (old.state === 'unavailable' || old.value.length > 0) {
    return old.state === 'unavailable' ? old : { state: 'done', value: false };
  }
  const missing = await files.findMissing([ref]);
  if (missing.state === 'unavailable') return missing;
  return { state: 'done', value: missing.value.length === 0 };
}
