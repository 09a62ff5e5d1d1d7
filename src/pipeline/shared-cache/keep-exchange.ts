// Stores an answer that was passed on; one that varies under a hash of its own, and in the index
// of its URL, which holds so many and drops the oldest.
import { headerValues } from '../../core/http/header-list.ts';
import type { VariantIndex } from '../../core/key/entry.ts';
import { VARIANTS_MAX } from '../../core/key/exchange-codec.ts';
import { splitTags, TAG_FIELDS } from '../../core/purge/tag.ts';
import type { PipelineDeps } from '../deps.ts';
import type { RunningFill } from '../fetch/running-fills.ts';
import type { Entry } from '../ports.ts';
import type { Keyed } from '../state.ts';
import type { PageDraft } from '../store/save-page.ts';
import type { SharedExchange } from './exchange-end.ts';
import { type ExchangePlace, exchangePlace, variantHash } from './exchange-place.ts';

/** An index outlives its variants, so that it is not written with each of them. */
const INDEX_MORE_MS = 86_400_000;

/**
 * Says whether it can be found now.
 *
 * @param running tells of purges that come meanwhile
 */
export async function keepExchange(
  keyed: Keyed,
  shared: SharedExchange,
  running: RunningFill,
  deps: PipelineDeps,
): Promise<boolean> {
  if (running.isPurged()) return false;
  const { kept } = shared;
  // An index is read, and written anew: the variants of others must be in it.
  const found = await deps.pages.lookUpStored(keyed.key, keyed.ref, keyed.decision.normalized);
  if (found.state === 'unavailable') return false;
  // An origin that is failing now had a good answer a moment ago.
  if (shared.status >= 500 && found.state === 'hit') return false;
  const isFresh = found.state === 'hit' && found.freshness === 'fresh';
  const isStored =
    kept.vary.length === 0
      ? (await deps.pages.save(draftOf(keyed, keyed, shared, running))).stored
      : await keepVariant(keyed, { shared, running }, isFresh ? found.entry : null, deps);
  if (!running.isPurged()) return isStored;
  await deps.pages.withdraw(keyed.key, keyed.ref, keyed.decision.normalized);
  return false;
}

interface Keeping {
  readonly shared: SharedExchange;
  readonly running: RunningFill;
}

async function keepVariant(
  keyed: Keyed,
  { shared, running }: Keeping,
  indexEntry: Entry | null,
  deps: PipelineDeps,
): Promise<boolean> {
  const { normalized: url } = keyed.decision;
  const { kept } = shared;
  const previous = indexEntry?.variants;
  const isSame = previous?.names.join() === kept.vary.join();
  const old: VariantIndex =
    previous !== undefined && isSame
      ? previous
      : { names: kept.vary, generation: deps.clock.now(), hashes: [] };
  const hash = variantHash(url, old, shared.selecting, deps.hasher);
  const saved = await deps.pages.save(
    draftOf(keyed, exchangePlace(keyed.host, hash), shared, running),
  );
  const isListed = old.hashes.includes(hash) && kept.deleteAt <= (indexEntry?.deleteAt ?? 0);
  if (!saved.stored || isListed) return saved.stored;
  const hashes = [...old.hashes.filter((one) => one !== hash), hash];
  const dropped = hashes.splice(0, Math.max(0, hashes.length - VARIANTS_MAX));
  const until = kept.deleteAt + INDEX_MORE_MS;
  const listed = await deps.pages.save({
    ...baseDraft(keyed, keyed),
    status: 200,
    body: Buffer.alloc(0),
    cachedAt: kept.cachedAt,
    staleAt: until,
    deleteAt: until,
    variants: { ...old, hashes },
    tags: [],
    since: shared.since,
    isPurged: running.isPurged,
  });
  for (const one of dropped) {
    const { key, ref } = exchangePlace(keyed.host, one);
    await deps.pages.withdraw(key, ref, url);
  }
  return listed.stored;
}

function baseDraft(keyed: Keyed, { key, ref }: ExchangePlace) {
  return { key, ref, url: keyed.decision.normalized, source: 'origin', headers: [] } as const;
}

function draftOf(
  keyed: Keyed,
  place: ExchangePlace,
  { status, kept, selecting, body, since }: SharedExchange,
  { isPurged }: RunningFill,
): PageDraft {
  return {
    ...baseDraft(keyed, place),
    status,
    body,
    cachedAt: kept.cachedAt,
    staleAt: kept.staleAt,
    deleteAt: kept.deleteAt,
    tags: splitTags(TAG_FIELDS.flatMap((name) => headerValues(kept.headers, name))),
    since,
    isPurged,
    exchange: {
      headers: kept.headers,
      initialAgeMs: Math.round(kept.initialAgeMs),
      selecting,
    },
  };
}
