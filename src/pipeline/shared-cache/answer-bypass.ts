// The phase of what is not rendered: passed on as it came, or, where the host wants that, answered
// from what a shared HTTP cache may keep of it (RFC 9111). Whatever is no GET or HEAD that anybody
// could have sent goes straight on.
import type { ForwardReason } from '../../core/http/cache-status.ts';
import { hasRange, whyNoPart } from '../../core/http/shared-cache/judge-request.ts';
import { judgeStored } from '../../core/http/shared-cache/judge-stored.ts';
import {
  isDemanding,
  readRequestDirectives,
} from '../../core/http/shared-cache/request-directives.ts';
import { passOn } from '../deliver-bypass.ts';
import { answerNotCached } from '../deliver-status.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { Peer } from '../origin-ports.ts';
import type { BypassDelivery, Delivery, Keyed, Planned } from '../state.ts';
import { exchangePlace } from './exchange-place.ts';
import { fetchExchange, followExchange, isForTrouble, refreshExchange } from './fetch-exchange.ts';
import { type FoundExchange, findExchange, type NoExchange } from './find-exchange.ts';
import { invalidateBy, isUnsafe } from './invalidate.ts';
import { serveStored } from './serve-stored.ts';

/** Passes a GET on as it came, where its host keeps nothing of such answers; null elsewhere. */
export function passUncached(planned: Planned): BypassDelivery | null {
  const { host, decision } = planned;
  return decision.policy.bypass.cache.enabled ? null : passOn(planned, { host, decision });
}

export async function answerBypass(planned: Planned, deps: PipelineDeps): Promise<Delivery> {
  const { host, decision, request } = planned;
  const { bypass } = decision.policy;
  const { method, headers, peer } = request;
  const noPart = whyNoPart({ method, headers, reason: decision.reason }, bypass);
  if (peer === null || noPart !== null) {
    const changes = bypass.cache.enabled && isUnsafe(method);
    return passOn(planned, {
      host,
      decision,
      ...(noPart !== null && noPart !== 'off' && { detail: noPart }),
      ...(changes && { onAnswer: invalidateBy(planned, deps) }),
    });
  }
  const keyed = { ...planned, ...exchangePlace(host, decision.hash) };
  planned.onKeyed?.(keyed);
  const found = await findExchange(keyed, deps);
  const answered = found.state === 'found' ? await useStored(keyed, peer, found, deps) : null;
  return answered ?? (await goOn(keyed, peer, found, deps));
}

/** Answers with what is stored, where that may be; null where the origin has to be asked. */
async function useStored(
  keyed: Keyed,
  peer: Peer,
  found: FoundExchange,
  deps: PipelineDeps,
): Promise<Delivery | null> {
  const { entry, freshness } = found;
  const { exchange, cachedAt, staleAt } = entry;
  const now = deps.clock.now();
  const use = judgeStored(
    { ...exchange, cachedAt, staleAt },
    keyed.request.headers,
    freshness,
    now,
  );
  if (use === 'validate') {
    // It has just failed: the next attempt is due a little later.
    const failure = deps.failures.get(pageIdentity(keyed));
    if (failure === null || !isForTrouble(keyed, found, now)) return null;
    const detail = failure.fill.reason;
    return await serveStored(keyed, found, { how: 'stale', detail }, deps);
  }
  if (use === 'refresh' && keyed.request.method !== 'HEAD') {
    refreshExchange({ keyed, peer, found, forward: 'stale' }, deps);
  }
  return await serveStored(
    keyed,
    found,
    { how: use === 'fresh' ? 'hit' : 'stale', detail: null },
    deps,
  );
}

async function goOn(
  keyed: Keyed,
  peer: Peer,
  found: FoundExchange | NoExchange,
  deps: PipelineDeps,
): Promise<Delivery> {
  const { host, decision, request } = keyed;
  const asked = readRequestDirectives(request.headers);
  if (asked.onlyIfCached) return answerNotCached(keyed);
  const forward = found.state === 'found' ? whyNot(found, asked) : found.forward;
  const want = { keyed, peer, found, forward };
  // HEAD never writes; a part is not the whole; and who says `no-store` is taken at his word.
  const unfit = whyUnfit(request, asked.noStore);
  if (unfit === null) return await fetchExchange(want, deps);
  const followed = asked.noStore ? null : await followExchange(want, deps);
  return followed ?? passOn(keyed, { host, decision, forward, detail: unfit });
}

/** Why the answer to a request is not one to keep; null: it is. */
function whyUnfit(
  { method, headers }: Keyed['request'],
  isNoStore: boolean,
): 'method' | 'no_store' | 'range' | null {
  if (method !== 'GET') return 'method';
  if (isNoStore) return 'no_store';
  return hasRange(headers) ? 'range' : null;
}

function whyNot(
  { freshness }: FoundExchange,
  asked: ReturnType<typeof readRequestDirectives>,
): ForwardReason {
  return freshness === 'fresh' && isDemanding(asked) ? 'request' : 'stale';
}
