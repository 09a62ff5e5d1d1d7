// The composition root: configuration → stores → runtime → listeners, then reload, restart and stop.
// Start fails as a whole, with one message for the operator, or everything runs. This process leads:
// it serves pages itself, or by workers, and what is to be done once for all of them is done here.
import type { Writable } from 'node:stream';
import type { Log } from '../adapters/telemetry/create-log.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { Clock } from '../pipeline/ports.ts';
import { layFoundation } from './foundation.ts';
import { holdRuntime } from './hold-runtime.ts';
import { listenAdmin } from './listen-admin.ts';
import { createReleases, type Releases } from './releases.ts';
import { createReloader } from './reload.ts';
import { createRestarter, describeRestart } from './restart.ts';
import { serveHere } from './serve-here.ts';
import type { Addresses, Serving } from './serving.ts';
import { describeStartError } from './start-error.ts';
import { createStopper } from './stop.ts';

export interface StartOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Writable;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** `address:port`, by which crawlers are verified; absent: the system's. */
  readonly nameServers?: readonly string[];
}

export interface RunningGateway {
  /** Ports that were given by the system where the configuration says 0. */
  readonly port: number;
  readonly adminPort: number;
  /** null: the pull endpoints are off. */
  readonly integrationPort: number | null;
  /** Reads the configuration again; false when it has errors and the old one goes on serving. */
  readonly reload: () => Promise<boolean>;
  /** Replaces every worker process by a new one; false when that was not possible. */
  readonly restart: () => Promise<boolean>;
  /** Stops accepting, lets open requests end, closes the stores. */
  readonly stop: () => Promise<void>;
  readonly stopped: Promise<void>;
}

/** Starts the gateway; null after its errors were written to stderr. */
export async function startGateway(options: StartOptions): Promise<RunningGateway | null> {
  const { config, diagnostics } = await loadConfig(options.file, options.env);
  for (const problem of diagnostics) options.stderr.write(`${formatDiagnostic(problem)}\n`);
  if (config === null) return null;
  const releases = createReleases();
  try {
    return await start(config, options, releases);
  } catch (cause) {
    await releases.run();
    options.stderr.write(`edge-gateway: ${describeStartError(cause, config.settings)}\n`);
    return null;
  }
}

async function start(
  config: Config,
  options: StartOptions,
  releases: Releases,
): Promise<RunningGateway> {
  const foundation = await layFoundation(config, options, releases, null);
  const { log, metrics, stores, bots, lasting } = foundation;
  const runtime = await holdRuntime(config, foundation, releases);
  let serving: Serving | null = null;
  const { stop, stopped, isDraining } = createStopper({
    log,
    stopServing: async () => await serving?.stop(),
    drainFlights: lasting.memories.flights.drain,
    release: releases.run,
  });
  serving = await serveHere(config, { foundation, runtime, isDraining }, releases);
  const { accepting, addresses, change, renderMetrics, restart } = serving;
  const reloader = createReloader({
    file: options.file,
    env: options.env,
    log,
    current: () => runtime.current().config,
    atStart: () => config.settings,
    onReload: metrics.recordReload,
    apply: change,
  });
  releases.add(reloader.close);
  const restartWorkers = createRestarter(restart, log);
  const adminPort = await listenAdmin(
    {
      runtime: runtime.current,
      stores,
      bots: bots.judge,
      metrics: { contentType: metrics.contentType, render: renderMetrics },
      accepting: () => (isDraining() ? 'draining' : accepting()),
      reload: reloader.reloadForAdmin,
      restart: async () => describeRestart(await restartWorkers()),
      onError: lasting.memories.onDefect,
    },
    releases,
  );
  announce(config, addresses, log);
  return {
    port: addresses.port,
    adminPort,
    integrationPort: addresses.integrationPort,
    reload: async () => (await reloader.reload()).isApplied,
    restart: async () => (await restartWorkers()).isDone,
    stop,
    stopped,
  };
}

function announce({ policies, settings }: Config, { listen }: Addresses, log: Log): void {
  log.info('ready', {
    listen,
    hosts: policies.hosts.length,
    engine: settings.render.engine,
    store: settings.redis === null ? 'embedded' : 'redis',
  });
}
