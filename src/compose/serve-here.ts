// A gateway in one process: the listeners are its own.
import type { Config } from '../config/settings.ts';
import type { Releases } from './releases.ts';
import { type PageServing, servePages } from './serve-pages.ts';
import type { Serving } from './serving.ts';
import { STOP_IDLE_GRACE_MS } from './stop.ts';

const REASON = 'there is one process, and nobody could serve meanwhile: see server.workers';

export async function serveHere(
  config: Config,
  parts: PageServing,
  releases: Releases,
): Promise<Serving> {
  const { foundation, runtime } = parts;
  const listeners = await servePages(config, parts, releases);
  foundation.metrics.setWorkers(1);
  return {
    addresses: listeners.addresses,
    settingsAtStart: () => config.settings,
    accepting: () => 'ok',
    change: async (next) => await runtime.change(next, () => listeners.renew(next.settings)),
    restart: async () => ({ isDone: false, reason: REASON }),
    renderMetrics: foundation.metrics.render,
    stop: async () => await listeners.close(STOP_IDLE_GRACE_MS),
  };
}
