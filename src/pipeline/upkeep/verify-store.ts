// Looks whether store and files say the same, in both directions, and whether bodies are what was
// stored; repairs by removing what can't be served. Beside a gateway that goes on storing: what
// looks wrong is looked at again before it is called so.
import { setTimeout as wait } from 'node:timers/promises';
import { formatCacheKey } from '../../core/key/cache-key.ts';
import { countBodyBytes } from '../../core/key/entry-bytes.ts';
import type { CacheKey, Done } from '../ports.ts';
import type { HostUsage, StoredItem } from '../upkeep-ports.ts';
import { type ItemVerdict, type JudgedItem, judgeItems } from './judge-items.ts';
import { removeBodies, removePage } from './remove-page.ts';
import { type Pace, SETTLED_MS, type UpkeepDeps } from './upkeep-deps.ts';
import { walkEntries, walkOrphans } from './walk-store.ts';

/** No page, and no problem. */
type UnservedVerdict = 'expired' | 'purged' | 'foreign';

export type ProblemKind =
  | Exclude<ItemVerdict, 'live' | UnservedVerdict>
  /** A body is not what was stored. */
  | 'body_damaged'
  /** A body without an entry. */
  | 'orphan';

export interface Problem {
  readonly kind: ProblemKind;
  readonly key: CacheKey;
  /** null: nothing readable says whose it is. */
  readonly url: string | null;
  /** null: the kind says it all. */
  readonly detail: string | null;
  readonly isRepaired: boolean;
}

export interface VerifyOptions {
  /** Reads every body; else only their files are looked for. */
  readonly checksBodies: boolean;
  readonly repairs: boolean;
  /** Absent: all of them. */
  readonly hostId?: number;
  readonly pace: Pace;
  readonly onProblem: (problem: Problem) => void;
}

export interface VerifyReport {
  /** What can be served. */
  readonly hosts: readonly HostUsage[];
  /** No problem: the next sweep removes them. */
  readonly expired: number;
  /** As those: left by a purge that ended half-way. */
  readonly purged: number;
  /** Of another format version, and left alone. */
  readonly foreign: number;
}

/** How long a version is given whose bodies are in place and whose metadata is about to be. */
const REPLACING_MS = 200;

/** Verifies everything that is stored; `unavailable` when it could not be looked at to the end. */
export async function verifyStore(
  deps: UpkeepDeps,
  options: VerifyOptions,
): Promise<Done<VerifyReport>> {
  const hosts = new Map<number, HostUsage>();
  const counts = { expired: 0, purged: 0, foreign: 0 };
  for await (const slice of walkEntries(deps, options.pace, { hostId: options.hostId })) {
    if (slice.state === 'unavailable') return slice;
    for (const { verdict } of slice.value) {
      if (isUnserved(verdict)) counts[verdict] += 1;
    }
    const wrong = await findWrong(slice.value, deps, options);
    if (wrong.state === 'unavailable') return wrong;
    for (const judged of slice.value) {
      if (judged.verdict === 'live' && !wrong.value.has(judged)) countPage(hosts, judged.item);
    }
    for (const [judged, { kind, detail }] of wrong.value) {
      const { item, ref } = judged;
      const removed = options.repairs ? await removePage(item, ref, deps) : NOT_DONE;
      if (removed.state === 'unavailable') return removed;
      options.onProblem({
        kind,
        key: item.key,
        url: urlOf(item),
        detail,
        isRepaired: removed.value,
      });
    }
  }
  const orphans = await verifyOrphans(deps, options);
  if (orphans.state === 'unavailable') return orphans;
  return { state: 'done', value: { hosts: [...hosts.values()], ...counts } };
}

const NOT_DONE: Done<boolean> = { state: 'done', value: false };

type Wrong = Pick<Problem, 'kind' | 'detail'>;

async function findWrong(
  slice: readonly JudgedItem[],
  deps: UpkeepDeps,
  { checksBodies }: VerifyOptions,
): Promise<Done<ReadonlyMap<JudgedItem, Wrong>>> {
  const suspects = new Map<JudgedItem, Wrong>();
  for (const judged of slice) {
    const wrong = await findFault(judged, deps, checksBodies);
    if (wrong.state === 'unavailable') return wrong;
    if (wrong.value !== null) suspects.set(judged, wrong.value);
  }
  if (suspects.size === 0) return { state: 'done', value: suspects };
  await wait(REPLACING_MS);
  const confirmed = new Map<JudgedItem, Wrong>();
  for (const suspect of suspects.keys()) {
    const again = await judgeAgain(suspect, deps);
    if (again.state === 'unavailable') return again;
    if (again.value === null) continue;
    const wrong = await findFault(again.value, deps, checksBodies);
    if (wrong.state === 'unavailable') return wrong;
    if (wrong.value !== null) confirmed.set(suspect, wrong.value);
  }
  return { state: 'done', value: confirmed };
}

/** @returns null: that version is not there any more */
async function judgeAgain(
  { item }: JudgedItem,
  deps: UpkeepDeps,
): Promise<Done<JudgedItem | null>> {
  const items = await deps.inventory.read([item.key]);
  if (items.state === 'unavailable') return items;
  const same = items.value.filter(({ version }) => version === item.version);
  const judged = await judgeItems(same, await deps.readPurges(), deps);
  return judged.state === 'unavailable'
    ? judged
    : { state: 'done', value: judged.value[0] ?? null };
}

async function findFault(
  { item, ref, verdict }: JudgedItem,
  { bodies }: UpkeepDeps,
  checksBodies: boolean,
): Promise<Done<Wrong | null>> {
  const { content } = item;
  if (verdict !== 'live') {
    const detail = content.state === 'invalid' ? content.reason : null;
    return { state: 'done', value: isUnserved(verdict) ? null : { kind: verdict, detail } };
  }
  if (!checksBodies || content.state !== 'entry') return { state: 'done', value: null };
  for (const coding of ['identity', 'gzip', 'br'] as const) {
    const digests = content.entry.bodies;
    if (digests[coding] === undefined) continue;
    const found = await bodies.read(ref, coding, digests);
    if (found.state === 'unavailable') return found;
    if (found.state === 'found') continue;
    const reason = found.state === 'damaged' ? found.reason : 'missing';
    return { state: 'done', value: { kind: 'body_damaged', detail: `${coding}: ${reason}` } };
  }
  return { state: 'done', value: null };
}

function isUnserved(verdict: ItemVerdict): verdict is UnservedVerdict {
  return verdict === 'expired' || verdict === 'purged' || verdict === 'foreign';
}

async function verifyOrphans(
  deps: UpkeepDeps,
  { repairs, hostId, pace, onProblem }: VerifyOptions,
): Promise<Done<void>> {
  const before = deps.clock.now() - SETTLED_MS;
  const known = new Set<CacheKey>();
  for await (const slice of walkOrphans(deps, before, pace)) {
    if (slice.state === 'unavailable') return slice;
    for (const ref of slice.value) {
      if (hostId !== undefined && ref.hostId !== hostId) continue;
      const key = formatCacheKey(ref);
      // A page with several files comes several times.
      if (known.has(key)) continue;
      known.add(key);
      const removed = repairs ? await removeBodies(ref, before, deps) : NOT_DONE;
      if (removed.state === 'unavailable') return removed;
      onProblem({ kind: 'orphan', key, url: null, detail: null, isRepaired: removed.value });
    }
  }
  return { state: 'done', value: undefined };
}

function urlOf({ content }: StoredItem): string | null {
  return content.state === 'entry' ? content.entry.url : null;
}

function countPage(hosts: Map<number, HostUsage>, { bytes, content }: StoredItem): void {
  if (content.state !== 'entry') return;
  const { hostId } = content.entry;
  const before = hosts.get(hostId) ?? { hostId, entries: 0, bytes: 0 };
  const size = bytes + countBodyBytes(content.entry);
  hosts.set(hostId, { hostId, entries: before.entries + 1, bytes: before.bytes + size });
}
