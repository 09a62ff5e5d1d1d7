// Stored pages as the phases use them: metadata and bodies together. What holds here: a page is
// only ever answered for the URL it was stored under, with the very bytes that were stored; a store
// that can't be asked, or whose purges can't be known, is never taken for a miss.
import { freshnessAt } from '../../core/http/freshness.ts';
import type { PurgeOrder, PurgeRecord } from '../../core/purge/purge-record.ts';
import { settleEntry } from '../../core/purge/settle-entry.ts';
import type { BodyReading, BodyRef, CacheKey, ContentCoding, Done, Entry } from '../ports.ts';
import { countPurged, type Settled, settlePurged } from '../purge/settle-purged.ts';
import { createBackgroundJobs } from './background-jobs.ts';
import { createKeyTurns } from './key-turns.ts';
import { createMemoryTier, type MemoryUse } from './memory-tier.ts';
import { dropBodies, type PageStoreDeps, type PageStoreParts } from './page-store-deps.ts';
import { type PeekedPage, peekPage } from './peek-page.ts';
import { type BodyReader, createBodyReader } from './read-page-body.ts';
import { type Renewal, renewEntry } from './renew-entry.ts';
import { type PageDraft, type Saved, savePage } from './save-page.ts';
import { type StoredAddress, withdrawPage } from './withdraw-page.ts';

export type LookUp =
  | {
      readonly state: 'hit';
      readonly entry: Entry;
      readonly freshness: 'fresh' | 'stale';
      /** Its body, where that came along; for `readBody`. */
      readonly ahead?: BodyReading | undefined;
    }
  | { readonly state: 'absent'; readonly reason: 'absent' | 'expired' | 'collision' | 'damaged' }
  | { readonly state: 'unavailable'; readonly reason: string };

export type WantedCodings = () => readonly ContentCoding[];

export interface PageStore {
  /**
   * @param wanted codings of the body that will be read, best first: it comes along where that
   *   saves a round trip. Asked only when the page is not in memory
   */
  readonly lookUp: (
    key: CacheKey,
    ref: BodyRef,
    url: string,
    wanted?: WantedCodings,
  ) => Promise<LookUp>;
  /**
   * The same past this process's memory, for who has just been told that there is something new:
   * what tells that what is held is old comes another way, and may come later.
   */
  readonly lookUpStored: PageStore['lookUp'];
  /** A page that this process holds and may serve without asking anybody; null: look it up. */
  readonly peek: (key: CacheKey, url: string) => PeekedPage | null;
  /** One more answer came from what `peek` has found. */
  readonly countHit: () => void;
  /**
   * The bytes of one coding of an entry that was just looked up. `damaged` for the reason
   * `replaced` means that a newer version has taken its place: looking up again finds it.
   */
  readonly readBody: BodyReader;
  readonly save: (draft: PageDraft) => Promise<Saved>;
  /** New metadata for the same bytes; the value says whether `previous` was still there. */
  readonly renew: (key: CacheKey, renewal: Renewal) => Promise<Done<boolean>>;
  /** Takes out a page that may not be kept any longer; says whether there was one. */
  readonly withdraw: (key: CacheKey, ref: BodyRef, url: string) => Promise<Done<boolean>>;
  /** Carries out a purge that was written to the log. */
  readonly settlePurged: (record: PurgeRecord) => Promise<Settled>;
  /** What a purge would do, if it were ordered now. */
  readonly countPurged: (order: PurgeOrder) => Promise<Settled>;
  readonly memoryUse: () => MemoryUse;
  /** Resolves when what follows the storing of pages is done, for an orderly stop. */
  readonly drain: () => Promise<void>;
}

/** Leaves half of Node's threads to the disk. */
const COMPRESSED_AT_ONCE = 2;
/** Of pages that wait to be compressed. */
const UNCOMPRESSED_BYTES_MAX = 32 * 1024 * 1024;

/** Makes the page store over one entry store and one body store. */
export function createPageStore(parts: PageStoreParts): PageStore {
  const deps: PageStoreDeps = {
    ...parts,
    memory: createMemoryTier(parts.memoryBytesMax),
    turns: createKeyTurns(),
    background: createBackgroundJobs({
      jobsAtOnce: COMPRESSED_AT_ONCE,
      bytesMax: UNCOMPRESSED_BYTES_MAX,
    }),
  };
  return {
    lookUp: (key, ref, url, wanted = NOTHING) => lookUpPage({ key, ref, url }, wanted, deps),
    lookUpStored: (key, ref, url, wanted = NOTHING) => askStore({ key, ref, url }, wanted, deps),
    peek: (key, url) => peekPage(key, url, deps),
    countHit: deps.memory.countHit,
    readBody: createBodyReader(deps),
    save: (draft) => savePage(draft, deps),
    renew: (key, renewal) => renewEntry(key, renewal, deps),
    withdraw: (key, ref, url) => withdrawPage({ key, ref, url }, deps),
    settlePurged: (record) => settlePurged(record, deps),
    countPurged: (order) => countPurged(order, deps),
    memoryUse: deps.memory.use,
    drain: deps.background.drain,
  };
}

const NOTHING: WantedCodings = () => [];

async function lookUpPage(
  address: StoredAddress,
  wanted: WantedCodings,
  deps: PageStoreDeps,
): Promise<LookUp> {
  const hot = peekPage(address.key, address.url, deps);
  if (hot === null) return await askStore(address, wanted, deps);
  deps.memory.countHit();
  return { state: 'hit', entry: hot.entry, freshness: hot.freshness };
}

async function askStore(
  { key, ref, url }: StoredAddress,
  wanted: WantedCodings,
  deps: PageStoreDeps,
): Promise<LookUp> {
  // All questions go out together.
  const codings = wanted();
  const ahead = codings.length === 0 ? undefined : deps.bodies.readAhead(ref, codings);
  const catchingUp = deps.journal.catchUp();
  const found = await deps.entries.get(key);
  const known = await catchingUp;
  if (found.state === 'unavailable') return found;
  if (known.state === 'unavailable') return known;
  if (found.state === 'found') deps.memory.hold(key, found.value, found.stamp);
  else deps.memory.drop(key);
  if (found.state === 'absent') return { state: 'absent', reason: 'absent' };
  if (found.state === 'damaged') {
    deps.onEvent({ kind: 'entry_damaged', key, reason: found.reason });
    await dropBodies(key, ref, deps);
    return { state: 'absent', reason: 'damaged' };
  }
  const stored = found.value;
  if (stored.url !== url) {
    deps.onEvent({ kind: 'collision', key, url });
    return { state: 'absent', reason: 'collision' };
  }
  const entry = settleEntry(stored, deps.journal.judge(stored), deps.clock.now());
  if (entry === null) return { state: 'absent', reason: 'absent' };
  const freshness = freshnessAt(entry, deps.clock.now());
  if (freshness === 'expired') return { state: 'absent', reason: 'expired' };
  return { state: 'hit', entry, freshness, ahead };
}
