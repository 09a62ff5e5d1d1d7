// How long a client waits for a page that is being got. Nobody waits longer than a fetch may take;
// a link preview is given up by its chat after a few seconds, so it is told in time to take the
// origin's page. The fetch goes on for the cache.

import type { Fill, Keyed } from '../state.ts';
import { within } from '../within.ts';

/** Room for storing the page, and for the next leader to be found. */
const BOUND_MORE_MS = 5_000;

/** How long a request waits for a page at most, in milliseconds, whoever fetches it. */
export function fetchBoundMs({ decision: { policy } }: Pick<Keyed, 'decision'>): number {
  return policy.render.timeoutMs + BOUND_MORE_MS;
}

/** @returns what the fetch gave, or null when the client should not wait any longer */
export async function waitForPage<F extends Fill>(
  keyed: Keyed,
  flight: Promise<F>,
  { onDefect }: { readonly onDefect: (error: unknown) => void },
): Promise<F | null> {
  const { bot, policy } = keyed.decision;
  const waitMs = bot?.kind === 'preview' ? policy.bots.previewWaitMs : fetchBoundMs(keyed);
  const fill = await within(waitMs, flight);
  // Nobody is left to fail with it.
  if (fill === null) flight.catch(onDefect);
  return fill;
}
