// Saves a page: bodies first, metadata last, so that whatever is found complete is complete. What
// is written has been read back by the same check that reads it later. A page is stored as it is,
// with the codings that the host has of the same bytes already; else they follow.
import { firstHeader } from '../../core/http/header-list.ts';
import { formatCacheKey } from '../../core/key/cache-key.ts';
import type { StoredExchange, VariantIndex } from '../../core/key/entry.ts';
import { decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import { hasSameBody } from '../../core/key/entry-version.ts';
import { settleEntry } from '../../core/purge/settle-entry.ts';
import type {
  BodyDigests,
  BodyRef,
  BodySet,
  CacheKey,
  Claim,
  Entry,
  EntrySource,
  HeaderList,
} from '../ports.ts';
import { settleWritten } from '../purge/settle-purged.ts';
import { addCodings } from './add-codings.ts';
import { claimInTurn } from './claim-bodies.ts';
import { isCompressible } from './compress-body.ts';
import { digestBodies } from './digest-bodies.ts';
import type { PageStoreDeps } from './page-store-deps.ts';
import { withdrawPage } from './withdraw-page.ts';

/** A page that is to be stored. */
export interface PageDraft {
  readonly key: CacheKey;
  readonly ref: BodyRef;
  /** The normalized URL. */
  readonly url: string;
  readonly source: EntrySource;
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  /** Captured before it was ready. */
  readonly partial?: true;
  readonly cachedAt: number;
  readonly staleAt: number;
  readonly deleteAt: number;
  /** Surrogate keys, without repeats. null: more than are kept. */
  readonly tags: readonly string[] | null;
  /** Where the purge log ended when the fetch began, see `Entry.since`. */
  readonly since: number;
  /** Whether a purge has come meanwhile that the log may tell of no more, see `RunningFill`. */
  readonly isPurged?: () => boolean;
  /** Of what was not rendered: its body stays in the coding it came in. */
  readonly exchange?: StoredExchange;
  readonly variants?: VariantIndex;
}

export type Saved =
  | { readonly stored: true; readonly entry: Entry }
  | {
      readonly stored: false;
      /**
       * `purged`: since the fetch began. `collision`: a fresh page of another URL has the key.
       * `invalid`: not fit to be stored.
       */
      readonly reason: 'purged' | 'collision' | 'unavailable' | 'invalid';
      readonly detail: string;
    };

const PURGED: Saved = { stored: false, reason: 'purged', detail: 'since the fetch began' };

/** Stores a page in place of its older version, never in place of a fresh page of another URL. */
export async function savePage(draft: PageDraft, deps: PageStoreDeps): Promise<Saved> {
  const saved = await writeClaimed(draft, deps);
  if (saved.stored && (await settleWritten(saved.entry, deps))) return PURGED;
  if (saved.stored && draft.isPurged?.() === true) {
    // By what is in the log no more: by that alone it would stay.
    await withdrawPage(draft, deps);
    return PURGED;
  }
  if (saved.stored && isCodingWanted(saved.entry, draft)) {
    await addCodings(saved.entry, draft.body, deps);
  }
  return saved;
}

async function writeClaimed(draft: PageDraft, deps: PageStoreDeps): Promise<Saved> {
  const turn = await claimInTurn(draft.key, deps, (claim) => writePage(draft, claim, deps));
  if (turn.state === 'busy') return unavailable('claimed');
  return turn.state === 'done' ? turn.value : unavailable(turn.reason);
}

async function writePage(draft: PageDraft, claim: Claim, deps: PageStoreDeps): Promise<Saved> {
  const { key, ref, url } = draft;
  const catchingUp = deps.journal.catchUp();
  const previous = await deps.entries.get(key);
  const known = await catchingUp;
  if (known.state === 'unavailable') return unavailable(known.reason);
  if (previous.state === 'unavailable') return unavailable(previous.reason);
  if (!isStillCurrent(draft, deps)) return PURGED;
  if (previous.state === 'damaged') {
    deps.onEvent({ kind: 'entry_damaged', key, reason: previous.reason });
  }
  const older = previous.state === 'found' ? keepCurrent(previous.value, deps) : null;
  if (older !== null && older.url !== url && deps.clock.now() < older.staleAt) {
    deps.onEvent({ kind: 'collision', key, url });
    return { stored: false, reason: 'collision', detail: older.url };
  }
  const codings = isWorthCoding(draft) ? await deps.bodies.findCodings(ref.hostId, draft.body) : {};
  const bodies: BodySet = { identity: draft.body, ...codings };
  const checked = decodeEntry(
    encodeEntry(makeEntry(draft, digestBodies(bodies, deps.hasher), older)),
    key,
    deps.clock.now(),
  );
  if (checked.state !== 'entry') {
    const detail = checked.state === 'invalid' ? checked.reason : checked.state;
    deps.onEvent({ kind: 'entry_refused', key, reason: detail });
    return { stored: false, reason: 'invalid', detail };
  }
  const written = await deps.bodies.write(ref, bodies, checked.entry.deleteAt);
  if (written.state === 'unavailable') return unavailable(written.reason);
  const put = await deps.entries.put(key, checked.entry, claim);
  if (put.state === 'unavailable') return unavailable(put.reason);
  if (previous.state === 'found') await forgetBodies(previous.value, checked.entry, deps);
  return { stored: true, entry: checked.entry };
}

/** What can't be taken away now is left to the sweep. */
async function forgetBodies(older: Entry, newer: Entry, deps: PageStoreDeps): Promise<void> {
  if (hasSameBody(older, newer, 'identity')) return;
  const done = await deps.bodies.forget(older, older.bodies.identity);
  if (done.state === 'done') return;
  deps.onEvent({ kind: 'not_deleted', key: formatCacheKey(older), reason: done.reason });
}

function isWorthCoding({ body, headers }: PageDraft): boolean {
  return isCompressible(body.length, firstHeader(headers, 'content-type'));
}

function isCodingWanted({ bodies }: Entry, draft: PageDraft): boolean {
  return bodies.gzip === undefined && bodies.br === undefined && isWorthCoding(draft);
}

function isStillCurrent(draft: PageDraft, { journal }: PageStoreDeps): boolean {
  const { ref, url, tags, since, isPurged } = draft;
  if (isPurged?.() === true) return false;
  return journal.isCurrent({ ...ref, url, tags, since });
}

/** What was purged has no rights any more. */
function keepCurrent(older: Entry, deps: PageStoreDeps): Entry | null {
  return settleEntry(older, deps.journal.judge(older), deps.clock.now());
}

function unavailable(detail: string): Saved {
  return { stored: false, reason: 'unavailable', detail };
}

function makeEntry(draft: PageDraft, bodies: BodyDigests, older: Entry | null): Entry {
  const cachedAt = Math.round(draft.cachedAt);
  const isUnchanged =
    older?.url === draft.url && older.bodies.identity.hash === bodies.identity.hash;
  return {
    schema: 1,
    url: draft.url,
    hostId: draft.ref.hostId,
    dimensionId: draft.ref.dimensionId,
    hash: draft.ref.hash,
    source: draft.source,
    status: draft.status,
    headers: draft.headers,
    cachedAt,
    staleAt: Math.round(draft.staleAt),
    deleteAt: Math.round(draft.deleteAt),
    modifiedAt: isUnchanged ? older.modifiedAt : cachedAt,
    bodies,
    ...(draft.partial && { partial: draft.partial }),
    ...(draft.tags?.length !== 0 && { tags: draft.tags }),
    since: draft.since,
    ...(draft.exchange && { exchange: draft.exchange }),
    ...(draft.variants && { variants: draft.variants }),
  };
}
