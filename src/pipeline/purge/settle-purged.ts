// Carries out in the store what the purges say: deletes what has gone, marks what is stale, brings
// back what a purge no longer marks. The purges hold without this; it makes room, and it counts.
import { formatCacheKey, parseCacheKey } from '../../core/key/cache-key.ts';
import { decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import type { PurgeOrder, PurgeRecord, PurgeSelector } from '../../core/purge/purge-record.ts';
import { settleEntry } from '../../core/purge/settle-entry.ts';
import type { CacheKey, Done, Entry } from '../ports.ts';
import { dropBodies, type PageStoreDeps } from '../store/page-store-deps.ts';
import { listMeant } from './list-meant.ts';

export interface Settled {
  /** How many entries went, were marked, or were brought back. */
  readonly entries: number;
  /**
   * How many are newer than the purge, and stay. Requests know of it as soon as it is written: what
   * they get anew takes the place of what would have been counted.
   */
  readonly newer: number;
  /** Why it was given up half-way; null: all are done. */
  readonly failure: string | null;
}

/** How many entries are changed at once. */
const ENTRIES_AT_ONCE = 16;
/** Whoever else writes an entry all the time writes a newer one. */
const ATTEMPTS_MAX = 3;

/** What became of an entry; the same: nothing. */
interface Outcome {
  readonly before: Entry;
  readonly after: Entry | null;
}

/** null: there is no entry. */
type Settle = (key: CacheKey, entry: Entry) => Promise<Done<Outcome | null>>;

type Weight = 'counted' | 'newer';

const ABSENT: Done<null> = { state: 'done', value: null };

/** Carries out a purge that was written. */
export async function settlePurged(record: PurgeRecord, deps: PageStoreDeps): Promise<Settled> {
  const { selector, soft } = record;
  const settled = await settleMeant(record, (key) => settlePage(key, deps), deps);
  const isWhole = selector.kind === 'host' || selector.kind === 'all';
  if (settled.failure !== null || soft || !isWhole) return settled;
  const foreign = await removeForeign(selector, deps);
  return { ...settled, entries: settled.entries + foreign.entries, failure: foreign.failure };
}

/** What a purge would do, if it were ordered now. */
export async function countPurged(order: PurgeOrder, deps: PageStoreDeps): Promise<Settled> {
  const judge = deps.journal.foresee(order);
  const settle: Settle = async (_key, before) => {
    const after = settleEntry(before, judge(before), deps.clock.now());
    return { state: 'done', value: { before, after } };
  };
  return await settleMeant({ ...order, seq: deps.journal.end() + 1 }, settle, deps);
}

type PlacedOrder = PurgeOrder & Pick<PurgeRecord, 'seq'>;

async function settleMeant(
  order: PlacedOrder,
  settle: Settle,
  deps: PageStoreDeps,
): Promise<Settled> {
  const weights = new Map<CacheKey, Weight>();
  for await (const page of listMeant(order.selector, deps)) {
    if (page.state === 'unavailable') return addUp(weights, page.reason);
    const known = await deps.journal.catchUp();
    if (known.state === 'unavailable') return addUp(weights, known.reason);
    const stored = page.value.filter(({ key }) => !weights.has(key));
    for (let from = 0; from < stored.length; from += ENTRIES_AT_ONCE) {
      const some = stored.slice(from, from + ENTRIES_AT_ONCE);
      const results = await Promise.all(
        some.map(async ({ key, entry }) => ({ key, done: await settle(key, entry) })),
      );
      let failure: string | null = null;
      for (const { key, done } of results) {
        if (done.state === 'unavailable') failure = done.reason;
        const weight = done.state === 'done' ? weigh(done.value, order) : null;
        if (weight !== null) weights.set(key, weight);
      }
      if (failure !== null) return addUp(weights, failure);
    }
  }
  return addUp(weights, null);
}

function weigh(outcome: Outcome | null, { seq, undoes }: PlacedOrder): Weight | null {
  if (outcome === null) return null;
  const { before, after } = outcome;
  // For one that takes back: newer than the one that is taken back.
  if (after === before) return (before.since ?? 0) >= (undoes ?? seq) ? 'newer' : null;
  // What another purge still marks has not been brought back.
  return undoes === null || after?.softened === undefined ? 'counted' : null;
}

function addUp(weights: ReadonlyMap<CacheKey, Weight>, failure: string | null): Settled {
  const newer = [...weights.values()].filter((weight) => weight === 'newer').length;
  return { entries: weights.size - newer, newer, failure };
}

/**
 * Brings one entry to where the known purges leave it. In turn with those who store the page in
 * this process, so that bodies stay with their entry.
 */
async function settlePage(key: CacheKey, deps: PageStoreDeps): Promise<Done<Outcome | null>> {
  return await deps.turns.take(key, async () => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const found = await deps.entries.get(key);
      if (found.state === 'unavailable') return found;
      if (found.state !== 'found') return ABSENT;
      const before = found.value;
      const after = settleEntry(before, deps.journal.judge(before), deps.clock.now());
      const done =
        after === null
          ? await deletePage(key, found.text, deps)
          : await changeEntry(key, { before, after }, deps);
      if (done.state === 'unavailable') return done;
      if (done.value) return { state: 'done', value: { before, after } };
    }
    return { state: 'unavailable', reason: 'an entry changes all the time' };
  });
}

/** Says whether it was there to be changed. */
async function changeEntry(
  key: CacheKey,
  { before, after }: { readonly before: Entry; readonly after: Entry },
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  if (after === before) return { state: 'done', value: true };
  return await deps.entries.replace(key, before, toStored(key, after, deps));
}

/**
 * Settles an entry that was just written: a purge may have come meanwhile, and may have looked
 * through the store before the entry was there. Says whether one had.
 */
export async function settleWritten(entry: Entry, deps: PageStoreDeps): Promise<boolean> {
  const known = await deps.journal.catchUp();
  // Purges that can't be known now will be, before the page is served.
  if (known.state === 'unavailable' || deps.journal.judge(entry).state === 'kept') return false;
  await settlePage(formatCacheKey(entry), deps);
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
 * Says whether it was still the one that was judged. The entry goes first: a body without one is
 * never served.
 */
async function deletePage(
  key: CacheKey,
  text: string,
  deps: PageStoreDeps,
): Promise<Done<boolean>> {
  const deleted = await deps.entries.delete(key, text);
  const ref = parseCacheKey(key);
  if (ref !== null && deleted.state === 'done' && deleted.value) await dropBodies(key, ref, deps);
  return deleted;
}

/**
 * Entries of another format version: they are no pages to us, but would be to the version that
 * wrote them.
 */
async function removeForeign(
  selector: Extract<PurgeSelector, { readonly kind: 'host' | 'all' }>,
  deps: PageStoreDeps,
): Promise<Pick<Settled, 'entries' | 'failure'>> {
  const hostId = selector.kind === 'host' ? selector.hostId : undefined;
  let entries = 0;
  for await (const page of deps.entries.keys({ hostId })) {
    if (page.state === 'unavailable') return { entries, failure: page.reason };
    for (const key of page.value) {
      const ref = parseCacheKey(key);
      if (ref === null) continue;
      const deleted = await deps.entries.deleteForeign(key);
      if (deleted.state === 'unavailable') return { entries, failure: deleted.reason };
      if (!deleted.value) continue;
      entries += 1;
      await dropBodies(key, ref, deps);
    }
  }
  return { entries, failure: null };
}
