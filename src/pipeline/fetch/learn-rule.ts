// Takes over what an answer says about the parameters of its path (No-Vary-Search), where the
// policy listens to it. The answer it came with keeps the key it was fetched for.
import { headerValues } from '../../core/http/header-list.ts';
import { formatNoVarySearch, parseNoVarySearch } from '../../core/http/no-vary-search.ts';
import {
  addressOf,
  LEARNED_ADDRESS_CHARS_MAX,
  LEARNED_KEEP_MS,
  learnedName,
} from '../../core/learned/learned-rule.ts';
import type { PipelineDeps } from '../deps.ts';
import type { Page } from '../ports.ts';
import type { Keyed } from '../state.ts';

/**
 * Learns from a page, or forgets what its answer no longer says. What the store can't take now is
 * learned from a later answer: the store itself tells that it fails.
 */
export async function learnRule(
  { host, decision }: Keyed,
  page: Page,
  { learned, clock }: PipelineDeps,
): Promise<void> {
  const isHeard = decision.policy.normalization.noVarySearch === 'learn' && page.status === 200;
  const address = addressOf(decision.normalized);
  if (!isHeard || address.length > LEARNED_ADDRESS_CHARS_MAX) return;
  const known = learned.current().get(learnedName(host.id, address));
  const variance = parseNoVarySearch(headerValues(page.headers, 'no-vary-search'));
  if (variance === null) {
    if (known !== undefined) await learned.forget(host.id, address);
    return;
  }
  const header = formatNoVarySearch(variance);
  const at = clock.now();
  if (known?.header === header && at - known.at < LEARNED_KEEP_MS / 2) return;
  await learned.learn({
    hostId: host.id,
    address,
    header,
    variance,
    from: decision.normalized,
    at,
  });
}
