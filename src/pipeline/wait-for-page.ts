// How long a client waits for a page that is being got. A link preview is given up by its chat
// after a few seconds, so it is told in time to take the origin's page; the fetch goes on for the
// cache.
import type { PipelineDeps } from './deps.ts';
import type { Fill, Keyed } from './state.ts';

/** @returns what the fetch gave, or null when the client should not wait any longer */
export async function waitForPage(
  { decision: { bot, policy } }: Keyed,
  flight: Promise<Fill>,
  deps: PipelineDeps,
): Promise<Fill | null> {
  if (bot?.kind !== 'preview') return await flight;
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, policy.bots.previewWaitMs, null);
  });
  const first = await Promise.race([flight, timeUp]).finally(() => clearTimeout(timer));
  // Nobody is left to fail with it.
  if (first === null) flight.catch(deps.onDefect);
  return first;
}
