// Says of what lies under entry keys whether it is a page that can be served.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { BodyRef, Done } from '../ports.ts';
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
}

/** @param purges null: nothing is said about them */
export async function judgeItems(
  items: readonly StoredItem[],
  purges: KnownPurges | null,
  { files }: UpkeepDeps,
): Promise<Done<readonly JudgedItem[]>> {
  const judged = items.flatMap((item): JudgedItem[] => {
    const ref = parseCacheKey(item.key);
    return ref === null ? [] : [{ item, ref, verdict: judgeContent(item, purges) }];
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

function judgeContent({ content }: StoredItem, purges: KnownPurges | null): ItemVerdict {
  if (content.state === 'invalid') return 'damaged';
  if (content.state !== 'entry') return content.state;
  if (purges === null) return 'live';
  const { since = 0, softened } = content.entry;
  if (Math.max(since, softened?.by ?? 0) > purges.end) return 'other_life';
  return purges.judge(content.entry).state === 'gone' ? 'purged' : 'live';
}
