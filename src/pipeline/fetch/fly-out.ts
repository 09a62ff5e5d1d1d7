// One fetch of a page, known to purges while it runs.
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import type { FailedFill, FilledPage, Keyed } from '../state.ts';
import { rememberFill } from './failure-memory.ts';
import { type FillOrder, fillPage } from './fill-page.ts';

/** One fetch; a failure is remembered, so that the next request does not repeat it at once. */
export async function flyOut(
  keyed: Keyed,
  order: FillOrder,
  deps: PipelineDeps,
): Promise<FilledPage | FailedFill> {
  const running = deps.fills.start(pageIdentity(keyed));
  try {
    const fill = await fillPage(keyed, order, running, deps);
    // What one client's headers made of the page says nothing about it, nor what a purge forgot.
    if (order.headers.length === 0 && !running.isPurged()) rememberFill(keyed, fill, deps);
    return fill;
  } finally {
    running.end();
  }
}
