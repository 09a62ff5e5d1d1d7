// `bothit_recache`: a crawler's hit on a page that has become old asks for a refresh, so that what
// crawlers come back to is young when they do. The hit itself costs a few comparisons.
import { firstHeader } from '../../core/http/header-list.ts';
import { LIMITS } from '../../core/limits.ts';
import { foldCase } from '../../core/pattern/fold-case.ts';
import type { Pattern } from '../../core/pattern/parse-pattern.ts';
import { TRIES_MAX } from '../../core/refresh/refresh-job.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { Entry } from '../ports.ts';
import type { Keyed } from '../state.ts';

/** How long nobody asks again when the queue did not take it on. */
const REFUSED_MEMORY_MS = 10_000;

/** Asks for a refresh of a fresh page, once in an interval. */
export function recacheOnHit(keyed: Keyed, entry: Entry, deps: PipelineDeps): void {
  const { policy, bot } = keyed.decision;
  const { enabled, intervalMs, matchUserAgent } = policy.recache;
  const now = deps.clock.now();
  if (!enabled || now - entry.cachedAt < intervalMs || bot?.verdict === 'forged') return;
  const identity = pageIdentity(keyed);
  if (deps.askedRefreshes.get(identity) !== null) return;
  const userAgent = firstHeader(keyed.request.headers, 'user-agent') ?? '';
  if (!matchesOne(userAgent, matchUserAgent)) return;
  deps.askedRefreshes.set(identity, true, intervalMs);
  askFor(keyed, now, deps).catch(deps.onDefect);
}

async function askFor(keyed: Keyed, askedAt: number, deps: PipelineDeps): Promise<void> {
  const { key, ref, decision } = keyed;
  const { hostId, dimensionId } = ref;
  const page = { key, url: decision.normalized, hostId, dimensionId };
  const job = { ...page, askedAt, failures: 0, tries: TRIES_MAX };
  const added = await deps.queueRefresh({ ...job, reason: 'bothit' });
  if (added.state === 'done' && added.value !== 'full') return;
  deps.askedRefreshes.set(pageIdentity(keyed), true, REFUSED_MEMORY_MS);
}

function matchesOne(userAgent: string, patterns: readonly Pattern[]): boolean {
  const text = userAgent.slice(0, LIMITS.userAgentCharsMax);
  const folded = foldCase(text);
  return patterns.some((pattern) => pattern.matches(text, folded));
}
