// Says of what lies under entry keys whether it is a page that can be served.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import { settleEntry } from '../../core/purge/settle-entry.ts';
import type { BodyRef, Done, Entry } from '../ports.ts';
import type { StoredItem } from '../upkeep-ports.ts';
import type { KnownPurges, UpkeepDeps } from './upkeep-deps.ts';

export type ItemVerdict =
  | 'live'
  | 'expired'
  /** Of another format version: not ours to use, nor to delete. */
  | 'foreign'
  | 'damaged'
  /** Its fetch began behind the end of the purge log: that was another log. */
  | 'other_life'
  /** Left by a purge that was not carried out to its end: nobody is served with it. */
  | 'purged'
  | 'body_missing';

export interface JudgedItem {
  readonly item: StoredItem;
  readonly ref: BodyRef;
  readonly verdict: ItemVerdict;
  /** As it is served: a soft purge, or what takes one back, has not got to it. null: as it is. */
  readonly next: Entry | null;
}

/** @param purges null: nothing is said about them */
export async function judgeItems(
  items: readonly StoredItem[],
  purges: KnownPurges | null,
  { files, clock }: UpkeepDeps,
): Promise<Done<readonly JudgedItem[]>> {
  const nowMs = clock.now();
  const judged = items.flatMap((item): JudgedItem[] => {
    const ref = parseCacheKey(item.key);
    return ref === null ? [] : [{ item, ref, ...judgeContent(item, purges, nowMs) }];
  });
  if (files === null) return { state: 'done', value: judged };
  const live = judged.filter(({ verdict }) => verdict === 'live');
  const missing = await files.findMissing(live.map(({ ref }) => ref));
  if (missing.state === 'unavailable') return missing;
  const lacking = new Set(missing.value);
  return {
    state: 'done',
    value: judged.map((one) => (lacking.has(one.ref) ? { ...one, verdict: 'body_missing' } : one)),
  };
}

function judgeContent(
  { content }: StoredItem,
  purges: KnownPurges | null,
  nowMs: number,
): Pick<JudgedItem, 'verdict' | 'next'> {
  if (content.state === 'invalid') return { verdict: 'damaged', next: null };
  if (content.state !== 'entry') return { verdict: content.state, next: null };
  if (purges === null) return { verdict: 'live', next: null };
  const { entry } = content;
  const { since = 0, softened } = entry;
  if (Math.max(since, softened?.by ?? 0) > purges.end) return { verdict: 'other_life', next: null };
  const next = settleEntry(entry, purges.judge(entry), nowMs);
  if (next === null) return { verdict: 'purged', next };
  return { verdict: 'live', next: next === entry ? null : next };
}
