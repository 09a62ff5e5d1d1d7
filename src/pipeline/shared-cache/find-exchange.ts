// Look-up of an answer that was passed on before: the one of the URL, or by its index the one that
// was chosen by the same request fields.
import type { ForwardReason } from '../../core/http/cache-status.ts';
import { isSameSelection } from '../../core/http/shared-cache/vary.ts';
import type { StoredExchange, VariantIndex } from '../../core/key/entry.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { BodyReading, ContentCoding, Entry } from '../ports.ts';
import type { Keyed } from '../state.ts';
import type { PageStore } from '../store/page-store.ts';
import { within } from '../within.ts';
import { chooseVariant } from './choose-variant.ts';
import { type ExchangePlace, exchangePlace, variantHash } from './exchange-place.ts';
import { STORE_PATIENCE_MS } from './running-saves.ts';

export type ExchangeEntry = Entry & { readonly exchange: StoredExchange };

export interface FoundExchange extends ExchangePlace {
  readonly state: 'found';
  readonly entry: ExchangeEntry;
  readonly freshness: 'fresh' | 'stale';
  /** Its body, where that came along. */
  readonly ahead: BodyReading | undefined;
}

export interface NoExchange {
  /** `unavailable`: nothing is known, so nothing may be stored either. */
  readonly state: 'absent' | 'unavailable';
  readonly forward: ForwardReason;
  readonly detail: string | null;
  /** What the answers of the URL vary by, where that is known. */
  readonly index: VariantIndex | null;
}

/** @param lookUp past memory where another process has just said that it has stored something */
export async function findExchange(
  keyed: Keyed,
  deps: PipelineDeps,
  lookUp = deps.pages.lookUp,
): Promise<FoundExchange | NoExchange> {
  const save = deps.saves.find(pageIdentity(keyed));
  // Whoever saves reports what goes wrong.
  if (save !== null)
    await within(
      STORE_PATIENCE_MS,
      save.catch(() => undefined),
    );
  const { key, ref, decision } = keyed;
  const found = await lookUp(key, ref, decision.normalized, () => wantedOf(keyed));
  if (found.state === 'unavailable') return nothing('unavailable', found.reason);
  if (found.state === 'absent') {
    return nothing('absent', found.reason === 'absent' ? null : found.reason);
  }
  const { entry, freshness, ahead } = found;
  if (entry.variants !== undefined) {
    // A soft purge marks the index: what hangs on it is fetched anew.
    return freshness === 'fresh'
      ? await findVariant(keyed, entry.variants, { ...deps, lookUp })
      : nothing('absent', 'expired');
  }
  return hasExchange(entry)
    ? { state: 'found', key, ref, entry, freshness, ahead }
    : nothing('absent', 'damaged');
}

async function findVariant(
  keyed: Keyed,
  index: VariantIndex,
  { hasher, lookUp }: Pick<PipelineDeps, 'hasher'> & Pick<PageStore, 'lookUp'>,
): Promise<FoundExchange | NoExchange> {
  const { normalized: url } = keyed.decision;
  const selecting = chooseVariant(index.names, keyed);
  const place = exchangePlace(keyed.host, variantHash(url, index, selecting, hasher));
  const missing: NoExchange = { state: 'absent', forward: 'vary-miss', detail: null, index };
  if (!index.hashes.includes(place.ref.hash)) return missing;
  const found = await lookUp(place.key, place.ref, url, () => wantedOf(keyed));
  if (found.state === 'unavailable') return nothing('unavailable', found.reason);
  if (found.state === 'absent' || !hasExchange(found.entry)) return missing;
  const { entry, freshness, ahead } = found;
  return isSameSelection(entry.exchange.selecting, selecting)
    ? { state: 'found', ...place, entry, freshness, ahead }
    : missing;
}

function wantedOf({ request }: Keyed): readonly ContentCoding[] {
  return request.method === 'HEAD' ? [] : ['identity'];
}

function hasExchange(entry: Entry): entry is ExchangeEntry {
  return entry.exchange !== undefined;
}

function nothing(state: NoExchange['state'], detail: string | null): NoExchange {
  return { state, forward: 'uri-miss', detail, index: null };
}
