// The line every request walks, first to last. This is the file to open first; each phase is a
// file of its own beside or below it, and src/README.md draws the same line as a picture.
//
//   plan     host, dimension, normalized URL, rule, action     core/decision (one function)
//   look up  hit | stale | absent | unavailable                look-up.ts
//   collapse leader | follower                                 fetch/collapse.ts, lead-or-follow.ts
//   fetch    page | failed(reason)                             fetch/fetch-page.ts, fill-page.ts
//   store    stored | not stored(reason)                       store/save-page.ts
//   deliver  status, headers, body; or pass on to the origin   deliver-*.ts
import type { Decision } from '../core/decision/decision.ts';
import { firstHeader } from '../core/http/header-list.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import type { HostPolicy } from '../core/policy/policy.ts';
import { passOn } from './deliver-bypass.ts';
import { answerStatus } from './deliver-status.ts';
import { type PipelineDeps, pageIdentity } from './deps.ts';
import { fetchPage } from './fetch/fetch-page.ts';
import { lookUp } from './look-up.ts';
import { answerBypass, passUncached } from './shared-cache/answer-bypass.ts';
import type { BypassDelivery, Delivery, Keyed, NonPageReason, Planned, Received } from './state.ts';

/** Walks one request through the phases. Never throws for anything a client or an origin does. */
export async function runPhases(received: Received, deps: PipelineDeps): Promise<Delivery> {
  const decision = plan(received);
  if (decision.error !== null) {
    const rawHost = findRawHost(received);
    return rawHost === null
      ? answerStatus(received, decision)
      : passOn(received, { host: rawHost, decision, reason: 'raw_host' });
  }
  const { host, dimension } = decision;
  if (host === null || dimension === null) return answerStatus(received, decision);
  if (decision.action === 'bypass') {
    return await answerBypass({ ...received, decision, host, dimension }, deps);
  }
  const keyed = deriveKey({ ...received, decision, host, dimension });
  received.onKeyed?.(keyed);
  const known = await recallNonPage(keyed, deps);
  // Sending a client to a URL whose page leads back would never end.
  const isEndless = decision.reason === 'canonical_redirect' && known === 'self_redirect';
  if (decision.action === 'status' && !isEndless) return answerStatus(received, decision);
  if (known !== null) return passOn(received, { host, decision, reason: known });
  const found = await lookUp(keyed, deps);
  return found.state === 'answered' ? found.delivery : await fetchPage(keyed, found, deps);
}

/** What was learned here may have been purged by another process since. */
async function recallNonPage(keyed: Keyed, deps: PipelineDeps): Promise<NonPageReason | null> {
  const identity = pageIdentity(keyed);
  if (deps.knownNonPages.get(identity) === null) return null;
  await deps.journal.catchUp();
  return deps.knownNonPages.get(identity);
}

function plan({ request, site }: Received): Decision {
  return site.decider.decide(
    {
      url: request.url,
      method: request.method,
      userAgent: firstHeader(request.headers, 'user-agent') ?? '',
      hasAuthorization: firstHeader(request.headers, 'authorization') !== null,
      judgeBot: (userAgent, verifies) => site.judgeBot(userAgent, request.address, verifies),
    },
    null,
  );
}

/** What can be known of a GET before anything is asked. */
export type Foresight =
  /** A page that may be in the cache. */
  | { readonly kind: 'page'; readonly keyed: Keyed }
  /** Passed on as it came, and nothing is kept of it. */
  | { readonly kind: 'pass'; readonly planned: Planned; readonly delivery: BypassDelivery };

/**
 * What a GET without body comes to: for all others of the same client for the same URL as well, as
 * long as a crawler's address is judged the same. null: the phases have to be walked.
 */
export function foresee(received: Received): Foresight | null {
  const decision = plan(received);
  if (decision.error !== null) return null;
  const { host, dimension, action } = decision;
  // What an origin says of its parameters may change what they mean from one request to the next.
  const isLearning = decision.policy.normalization.noVarySearch === 'learn';
  if (host === null || dimension === null || isLearning) return null;
  const planned = { ...received, decision, host, dimension };
  if (action === 'render') return { kind: 'page', keyed: deriveKey(planned) };
  const delivery = action === 'bypass' ? passUncached(planned) : null;
  return delivery === null ? null : { kind: 'pass', planned, delivery };
}

/** @returns the same with the key of its page */
export function deriveKey(planned: Planned): Keyed {
  const { host, dimension, decision } = planned;
  const ref = { hostId: host.id, dimensionId: dimension.id, hash: decision.hash };
  return { ...planned, ref, key: formatCacheKey(ref) };
}

/**
 * A host that renders nothing passes on even what cannot be normalized, byte for byte. One that
 * refuses anybody does not: no URL is a way around that.
 */
function findRawHost({ request, site }: Received): HostPolicy | null {
  const host = site.decider.findHost(request.hostName);
  if (host === null) return null;
  const isRaw =
    host.rules.length === 0 &&
    host.unmatched !== 'block' &&
    [...host.dimensions, host.unmatched].every(({ action }) => action === 'bypass');
  return isRaw ? host : null;
}

/**
 * An upgrade (WebSocket) is never a page: it is refused by rule, or passed on to the origin. Never
 * redirected either, because no WebSocket client would follow.
 */
export function runUpgradePhases(received: Received): Delivery {
  const decision = plan(received);
  const host = decision.error === null ? decision.host : (findRawHost(received) ?? decision.host);
  const isRefused = decision.action === 'status' && decision.reason !== 'canonical_redirect';
  if (host === null || (decision.error === null && isRefused)) {
    return answerStatus(received, decision);
  }
  return passOn(received, { host, decision, reason: 'upgrade' });
}
