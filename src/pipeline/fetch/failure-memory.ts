// What one process remembers of a fetch, so that the next request does not repeat at once what has
// failed, nor waits for what could not be shared.
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { FailedFill, FilledPage, Keyed, NonPageReason } from '../state.ts';
import { isShareable, nonPageReason } from './judge-fill.ts';

/** First wait after a failure; doubled each time. */
const BACK_OFF_MS_MIN = 1_000;
const BACK_OFF_MS_MAX = 60_000;
/** How long a page that could not be shared is fetched by each client alone. */
const UNSHARED_MEMORY_MS = 120_000;
/** How long it is remembered that something is no page of its own. */
const NON_PAGE_MEMORY_MS = 3_600_000;

/** A fetch has ended, and what came of it goes for all clients. */
export function rememberFill(
  keyed: Keyed,
  fill: FilledPage | FailedFill,
  deps: PipelineDeps,
): void {
  const identity = pageIdentity(keyed);
  if (fill.outcome === 'failed' || (fill.page.status >= 500 && fill.entry === null)) {
    backOff(keyed, fill, deps);
    return;
  }
  deps.failures.forget(identity);
  if (!isShareable(fill)) rememberUnshared(keyed, nonPageReason(fill), deps);
}

/** @param nonPage why it is no page of its own; null: it is one */
export function rememberUnshared(
  keyed: Keyed,
  nonPage: NonPageReason | null,
  deps: PipelineDeps,
): void {
  const identity = pageIdentity(keyed);
  if (nonPage !== null) deps.knownNonPages.set(identity, nonPage, NON_PAGE_MEMORY_MS);
  deps.knownUnshared.set(identity, 'for_one', UNSHARED_MEMORY_MS);
}

/** Its answers are passed on without a copy for a while, unless they say that they fit. */
export function rememberTooLarge(keyed: Keyed, deps: PipelineDeps): void {
  deps.knownUnshared.set(pageIdentity(keyed), 'too_large', UNSHARED_MEMORY_MS);
}

/** Waits longer after every failure, see `PipelineDeps.failures`. */
export function backOff(keyed: Keyed, fill: FilledPage | FailedFill, deps: PipelineDeps): void {
  const identity = pageIdentity(keyed);
  const count = (deps.failures.peek(identity)?.count ?? 0) + 1;
  const waitMs = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** (count - 1));
  deps.failures.set(identity, { fill: failureIn(fill), count }, waitMs);
}

/** A page that says 5xx and is not even kept for a moment has failed like any other. */
function failureIn(fill: FilledPage | FailedFill): FailedFill {
  if (fill.outcome === 'failed') return fill;
  return { outcome: 'failed', reason: 'render_failed', detail: `status_${fill.page.status}` };
}
