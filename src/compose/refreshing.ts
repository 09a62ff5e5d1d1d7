// Who works through the refresh queue: the process that leads. Its workers hand their jobs to it.
import type { Settings } from '../config/settings.ts';
import type { RefreshJob } from '../core/refresh/refresh-job.ts';
import { createRefreshWaiters } from '../pipeline/refresh/refresh-waiters.ts';
import {
  type RefreshRequests,
  requestRecache,
  warmPages,
} from '../pipeline/refresh/request-refresh.ts';
import { runRefresh } from '../pipeline/refresh/run-refresh.ts';
import type { RefreshQueue, RefreshStep } from '../pipeline/refresh-ports.ts';
import type { RefreshActions } from '../server/admin/add-refresh-routes.ts';
import type { Runtime } from './build-runtime.ts';
import type { Foundation } from './foundation.ts';

/** Pages that one render service is taken to render at once: it does not say how many. */
const SERVICE_TABS_ASSUMED = 4;
/** Pages that are got from origins at once. */
const ORIGIN_PAGES = 8;

export interface Refreshing extends RefreshActions {
  readonly add: RefreshQueue['add'];
  /** Hands out no more jobs, and waits a while for those that run. */
  readonly stop: () => Promise<void>;
}

/** Begins to work, under whatever configuration is in service when a job's turn comes. */
export function startRefreshing(
  { refreshQueue: queue, log, metrics, lasting }: Foundation,
  runtime: () => Runtime,
): Refreshing {
  if (queue === null) throw new Error('the process that leads has the refresh queue');
  const run = async (job: RefreshJob): Promise<RefreshStep> => {
    const startedAt = performance.now();
    const step = await runRefresh(job, runtime().snapshot);
    const { key, url, reason, failures } = job;
    const { outcome, detail } = step;
    metrics.recordRefresh({ reason, outcome });
    log.info('refresh', {
      url,
      key,
      reason,
      outcome,
      detail,
      failures,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    return step;
  };
  queue.work(run, () => countAtOnce(runtime().config.settings));
  const { add } = queue;
  const waiters = createRefreshWaiters(queue);
  const { pages, clock } = lasting.pipeline;
  const requests = (): RefreshRequests => ({
    decider: runtime().snapshot.site.decider,
    pages,
    add,
    waiters,
    clock,
  });
  return {
    add,
    recache: async (command) => await requestRecache(command, requests()),
    warm: (command) => warmPages(command, requests()),
    stop: async () => {
      waiters.close();
      await queue.close();
    },
  };
}

/** `render.refresh_share` of what can be rendered at once, and never nothing. */
function countAtOnce({ render }: Settings): number {
  return Math.max(1, Math.floor(countTabs(render) * render.refreshShare));
}

function countTabs({ engine, chromium, service }: Settings['render']): number {
  switch (engine) {
    case 'chromium':
      return chromium.tabs;
    case 'service':
      return SERVICE_TABS_ASSUMED * (service?.urls.length ?? 1);
    case 'origin':
      return ORIGIN_PAGES;
    case 'off':
      return 1;
  }
}
