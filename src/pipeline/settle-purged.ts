// Carries out in the store what the purges say: deletes what has gone, marks what is stale, brings
// back what a purge no longer marks. The purges hold without this; it makes room, and it counts.
import { formatCacheKey, parseCacheKey } from '../core/key/cache-key.ts';
import { decodeEntry, encodeEntry } from '../core/key/entry-codec.ts';
import type { PurgeOrder, PurgeSelector } from '../core/purge/purge-record.ts';
import { settleEntry } from '../core/purge/settle-entry.ts';
import { listMeant } from './list-meant.ts';
import { dropBodies, type PageStoreDeps } from './page-store-deps.ts';
import type { CacheKey, Done, Entry } from './ports.ts';

export interface Settled {
  /** How many entries went, were marked, or were brought back. */
  readonly entries: number;
  /** Why it was given up half-way; null: all are done. */
  readonly failure: string | null;
}

/** How many entries are changed at once. */
const ENTRIES_AT_ONCE = 16;
/** Whoever else writes an entry all the time writes a newer one. */
const ATTEMPTS_MAX = 3;

const NO: Done<boolean> = { state: 'done', value: false };

/** Carries out a purge that was written. */
export async function settlePurged(order: PurgeOrder, deps: PageStoreDeps): Promise<Settled> {
  const { selector, soft } = order;
  const settled = await settleMeant(selector, (key) => settlePage(key, order, deps), deps);
  const isWhole = selector.kind === 'host' || selector.kind === 'all';
  if (settled.failure !== null || soft || !isWhole) return settled;
  const foreign = await removeForeign(selector, deps);
  return { entries: settled.entries + foreign.entries, failure: foreign.failure };
}

/** What a purge would do, if it were ordered now. */
export async function countPurged(order: PurgeOrder, deps: PageStoreDeps): Promise<Settled> {
  const judge = deps.journal.foresee(order);
  const count: Change = async (_key, entry) => {
    const next = settleEntry(entry, judge(entry), deps.clock.now());
    return { state: 'done', value: next !== entry && isCounted(order, next) };
  };
  return await settleMeant(order.selector, count, deps);
}

/** What another purge still marks has not been brought back. */
function isCounted(order: PurgeOrder | null, next: Entry | null): boolean {
  const isUndo = order !== null && order.undoes !== null;
  return !isUndo || next?.softened === undefined;
}

type Change = (key: CacheKey, entry: Entry) => Promise<Done<boolean>>;

async function settleMeant(
  selector: PurgeSelector,
  change: Change,
  deps: PageStoreDeps,
): Promise<Settled> {
  const counted = new Set<CacheKey>();
  for await (const page of listMeant(selector, deps)) {
    if (page.state === 'unavailable') return { entries: counted.size, failure: page.reason };
    const known = await deps.journal.catchUp();
    if (known.state === 'unavailable') return { entries: counted.size, failure: known.reason };
    const stored = page.value.filter(({ key }) => !counted.has(key));
    for (let from = 0; from < stored.length; from += ENTRIES_AT_ONCE) {
      const some = stored.slice(from, from + ENTRIES_AT_ONCE);
      const results = await Promise.all(
        some.map(async ({ key, entry }) => ({ key, done: await change(key, entry) })),
      );
      let failure: string | null = null;
      for (const { key, done } of results) {
        if (done.state === 'unavailable') failure = done.reason;
        else if (done.value) counted.add(key);
      }
      if (failure !== null) return { entries: counted.size, failure };
    }
  }
  return { entries: counted.size, failure: null };
}

/**
 * Brings one entry to where the known purges leave it; the value says whether it counts. In turn
 * with those who store the page in this process, so that bodies stay with their entry.
 */
async function settlePage(
  key: CacheKey,
  order: PurgeOrder | null,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  return await deps.turns.take(key, async () => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const found = await deps.entries.get(key);
      if (found.state === 'unavailable') return found;
      if (found.state !== 'found') return NO;
      const entry = found.value;
      const next = settleEntry(entry, deps.journal.judge(entry), deps.clock.now());
      if (next === entry) return NO;
      if (next === null) return await deletePage(key, entry, deps);
      const replaced = await deps.entries.replace(key, entry, toStored(key, next, deps));
      if (replaced.state === 'unavailable') return replaced;
      if (replaced.value) return { state: 'done', value: isCounted(order, next) };
    }
    return { state: 'unavailable', reason: 'an entry changes all the time' };
  });
}

/**
 * Settles an entry that was just written: a purge may have come meanwhile, and may have looked
 * through the store before the entry was there. Says whether one had.
 */
export async function settleWritten(entry: Entry, deps: PageStoreDeps): Promise<boolean> {
  const known = await deps.journal.catchUp();
  // Purges that can't be known now will be, before the page is served.
  if (known.state === 'unavailable' || deps.journal.judge(entry).state === 'kept') return false;
  await settlePage(formatCacheKey(entry.hostId, entry.dimensionId, entry.hash), null, deps);
  return true;
}

/** As the store will give it back, field by field: it is compared with that. */
export function toStored(
  key: CacheKey,
  entry: Entry,
  { clock }: Pick<PageStoreDeps, 'clock'>,
): Entry {
  const decoded = decodeEntry(encodeEntry(entry), key, clock.now());
  return decoded.state === 'entry' ? decoded.entry : entry;
}

/**
 * The entry goes first: a body without one is never served. A page that another process stores at
 * this very moment may go too, and is got again: a turn among all processes would cost two more
 * questions an entry, and the command beside a gateway without Redis can't have one.
 */
async function deletePage(
  key: CacheKey,
  entry: Entry,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const deleted = await deps.entries.delete(key);
  if (deleted.state === 'done') await dropBodies(key, entry, deps);
  return deleted;
}

/**
 * Entries of another format version: they are no pages to us, but would be to the version that
 * wrote them.
 */
async function removeForeign(
  selector: Extract<PurgeSelector, { readonly kind: 'host' | 'all' }>,
  deps: PageStoreDeps,
): Promise<Settled> {
  const hostId = selector.kind === 'host' ? selector.hostId : undefined;
  let entries = 0;
  for await (const page of deps.entries.keys({ hostId })) {
    if (page.state === 'unavailable') return { entries, failure: page.reason };
    for (const key of page.value) {
      const found = await deps.entries.get(key);
      const ref = parseCacheKey(key);
      if (found.state === 'found' || ref === null) continue;
      const deleted = found.state === 'unavailable' ? found : await deps.entries.delete(key);
      if (deleted.state === 'unavailable') return { entries, failure: deleted.reason };
      if (!deleted.value) continue;
      entries += 1;
      await dropBodies(key, ref, deps);
    }
  }
  return { entries, failure: null };
}
