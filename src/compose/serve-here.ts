// A gateway in one process: the ports and the servers behind them are its own.
import type { Config } from '../config/settings.ts';
import { openPorts } from './open-ports.ts';
import type { Releases } from './releases.ts';
import { type PageServing, servePages } from './serve-pages.ts';
import type { Serving } from './serving.ts';
import { STOP_IDLE_GRACE_MS } from './stop.ts';

export async function serveHere(
  config: Config,
  parts: Omit<PageServing, 'ticketKeys'>,
  releases: Releases,
): Promise<Serving> {
  const { foundation, runtime } = parts;
  const { settings } = config;
  const servers = await servePages(config, { ...parts, ticketKeys: null }, releases);
  const options = { isPaused: false, onConnection: servers.connect };
  const ports = await openPorts(settings, options, releases);
  foundation.metrics.setWorkers(1);
  return {
    addresses: ports.addresses,
    settingsAtStart: () => settings,
    accepting: () => 'ok',
    change: async (next) => await runtime.change(next, () => servers.renew(next.settings)),
    restart: null,
    renderMetrics: foundation.metrics.render,
    stop: async () => {
      ports.close();
      await servers.close(STOP_IDLE_GRACE_MS);
    },
  };
}
