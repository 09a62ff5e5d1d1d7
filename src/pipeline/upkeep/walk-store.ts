// Walks everything that is stored, slice by slice, with a rest after each: entries, body files
// without an entry, and rows of the usage book without one. A walk ends at the first slice that is
// `unavailable`: half a store is never taken for the whole.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import type { BodyRef, CacheKey, Done, EntryFilter } from '../ports.ts';
import { type JudgedItem, judgeItems } from './judge-items.ts';
import type { Pace, UpkeepDeps } from './upkeep-deps.ts';

type Slices<T> = AsyncGenerator<Done<readonly T[]>>;

/** Entries that are decoded without a rest: a few milliseconds. */
const ITEMS_PER_SLICE = 125;

/** Every entry that is meant, with what is to be said of it. */
export async function* walkEntries(
  deps: UpkeepDeps,
  pace: Pace,
  filter: EntryFilter = {},
): Slices<JudgedItem> {
  const purges = await deps.readPurges();
  const judge = async (keys: readonly CacheKey[]): Promise<Done<readonly JudgedItem[]>> => {
    const items = await deps.inventory.read(keys);
    return items.state === 'unavailable' ? items : await judgeItems(items.value, purges, deps);
  };
  yield* paced(mapSlices(deps.entries.keys(filter), judge), pace);
}

/** Pages with files and without an entry, as far as their files are older than `before`. */
export async function* walkOrphans(deps: UpkeepDeps, before: number, pace: Pace): Slices<BodyRef> {
  const { files } = deps;
  if (files === null) return;
  const findOrphans = async (refs: readonly BodyRef[]): Promise<Done<readonly BodyRef[]>> => {
    const byKey = new Map(refs.map((ref) => [formatCacheKey(ref), ref]));
    const absent = await deps.inventory.findAbsent([...byKey.keys()]);
    if (absent.state === 'unavailable') return absent;
    const orphans = absent.value.flatMap((key) => byKey.get(key) ?? []);
    return orphans.length === 0 ? { state: 'done', value: [] } : files.findOld(orphans, before);
  };
  yield* paced(mapSlices(files.list(), findOrphans), pace);
}

/** Keys in the usage book under which there is no entry. */
export async function* walkUnused(deps: UpkeepDeps, pace: Pace): Slices<CacheKey> {
  const rows = mapSlices(deps.usage.list(), (some) =>
    deps.inventory.findAbsent(some.map(({ key }) => key)),
  );
  yield* paced(rows, pace);
}

async function* mapSlices<A, B>(
  slices: AsyncIterable<Done<readonly A[]>>,
  change: (some: readonly A[]) => Promise<Done<readonly B[]>>,
): Slices<B> {
  for await (const given of slices) {
    if (given.state === 'unavailable') {
      yield given;
      return;
    }
    for (let from = 0; from < given.value.length; from += ITEMS_PER_SLICE) {
      const slice = await change(given.value.slice(from, from + ITEMS_PER_SLICE));
      yield slice;
      if (slice.state === 'unavailable') return;
    }
  }
}

/** The time of a slice is what is done between two rests, by the walk and by whoever walks. */
async function* paced<T>(slices: Slices<T>, { rest, isStopped }: Pace): Slices<T> {
  let beganAt = performance.now();
  for await (const slice of slices) {
    yield slice;
    if (isStopped()) return;
    await rest(performance.now() - beganAt);
    beganAt = performance.now();
  }
}
